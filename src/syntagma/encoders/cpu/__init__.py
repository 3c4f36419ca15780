"""Kernels that make training on CPUs faster or smaller; :mod:`.switch` turns them on."""
