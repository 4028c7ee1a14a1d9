"""Scalar types that kernels are generic in: eight lanes, a value with tangents; sine and cosine for all of them."""
