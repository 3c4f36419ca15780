"""Export models to other runtimes: today to ONNX."""
