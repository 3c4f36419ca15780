# syntagma serve, with the models that ship: it needs no network.
#
#     docker build -t syntagma .
#     docker run --rm -p 127.0.0.1:8000:8000 syntagma
#
# docs/deploy.md has more. What is installed is decided by scripts/container.sh, which a test runs.

FROM python:3.12-slim-bookworm AS build
# The torch of the Python package index brings gigabytes of CUDA libraries.
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
COPY . /source
RUN sh /source/scripts/container.sh /source /opt/syntagma

FROM python:3.12-slim-bookworm
COPY --from=build /opt/syntagma /opt/syntagma
RUN useradd --uid 10001 --create-home syntagma && install -d -o syntagma /indexes
ENV PATH=/opt/syntagma/venv/bin:$PATH \
    SYNTAGMA_HOME=/opt/syntagma/models \
    HF_HUB_OFFLINE=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /indexes
VOLUME /indexes
EXPOSE 8000
# Loading takes longest where the disk is slow; until it is over, nothing is counted as a failure.
HEALTHCHECK --start-period=180s --interval=15s --timeout=5s --retries=4 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/ready', timeout=4)"]
# SIGTERM, which Docker sends by default, lets the server answer the open requests.
ENTRYPOINT ["syntagma", "serve", "--host", "0.0.0.0", "--port", "8000"]
