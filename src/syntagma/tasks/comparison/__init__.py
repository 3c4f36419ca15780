"""How runs of a task are compared: metrics, their tests, and sums over examples."""
