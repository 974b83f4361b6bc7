"""What file permissions forbid, also to root: for tests that run as either.

Root may write where permissions say no, by the capability CAP_DAC_OVERRIDE. A process that gives it up is an ordinary
owner of its files, and still reads the project wherever that stands.
"""

from __future__ import annotations

import ctypes
import os

_VERSION_3 = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    """The lower and upper 32 capabilities that are effective, permitted and inheritable."""

    _fields_ = (("low", ctypes.c_uint32 * 3), ("high", ctypes.c_uint32 * 3))


def obey_permissions() -> None:
    """Give up, for this process and for good, what lets root pass over file permissions (Linux)."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = _Header(_VERSION_3, 0), _Sets()
    _check(libc.capget(ctypes.byref(header), ctypes.byref(sets)))
    for i in range(3):
        sets.low[i] &= ~(1 << _DAC_OVERRIDE | 1 << _DAC_READ_SEARCH)
    _check(libc.capset(ctypes.byref(header), ctypes.byref(sets)))


def _check(failed: int) -> None:
    if failed:
        raise OSError(ctypes.get_errno(), "cannot give up capabilities")
