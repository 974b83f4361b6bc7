"""The public face: every promised name is there, and none is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dpcore


def test_every_name_of_the_face_can_be_had() -> None:
    assert sorted(dpcore._MODULES) == sorted(dpcore.__all__)
    for name in dpcore.__all__:
        assert getattr(dpcore, name) is not None
        assert name in dir(dpcore)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dpcore.nothing


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'pandas', 'scipy', 'sklearn', 'attrs', 'pluggy', 'click'}"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, dpcore; assert not {heavy} & set(sys.modules)"], check=False
    )
    assert done.returncode == 0
