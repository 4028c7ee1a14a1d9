"""Scalar types for generic kernels: eight lanes, a value with tangents; sine and cosine for all of them."""
