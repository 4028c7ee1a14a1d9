"""Programs of these tests are called rarely: they are compiled the quick way."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _quick(quick_code: None) -> None:
    """What is compiled with optimization is tested with the systems and the simulations."""
