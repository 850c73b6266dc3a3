"""Host memory, protection domains, regions, windows, and the checks of lkey and rkey.

ibv_reg_mr(3): REMOTE_WRITE or REMOTE_ATOMIC needs LOCAL_WRITE; local read is always on.
ibv_alloc_mw(3): deregistering fails while a window is bound. Binding: Linux rxe_mw.c
(commit 02ed253770fb), which quotes C10-72 to C10-75 and o10-36.2.2, o10-37.2.30, o10-37.2.40.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntFlag

from .states import VerbsError


class Access(IntFlag):
    """ibv_access_flags."""

    LOCAL_READ = 0
    LOCAL_WRITE = 1
    REMOTE_WRITE = 2
    REMOTE_READ = 4
    REMOTE_ATOMIC = 8
    MW_BIND = 16


WRITING = Access.REMOTE_WRITE | Access.REMOTE_ATOMIC


@dataclass(eq=False)
class ProtectionDomain:
    """Queue pairs and memory work together only inside one domain."""

    name: str = "pd"


@dataclass(eq=False)
class Region:
    """A registered range; lkey and rkey are one number here, as on most adapters."""

    pd: ProtectionDomain
    address: int
    length: int
    access: Access
    key: int
    windows: int = 0

    @property
    def lkey(self) -> int:
        return self.key

    @property
    def rkey(self) -> int:
        return self.key

    def holds(self, address: int, length: int) -> bool:
        """Whether the range lies inside."""
        return self.address <= address and address + length <= self.address + self.length


@dataclass(eq=False)
class Window:
    """A memory window: type 1 belongs to its domain, type 2 (2B) to one queue pair too."""

    pd: ProtectionDomain
    kind: int
    rkey: int
    region: Region | None = None
    address: int = 0
    length: int = 0
    access: Access = Access.LOCAL_READ
    qpn: int | None = None


@dataclass
class Memory:
    """One host's memory and the keys that its adapter knows."""

    data: bytearray = field(default_factory=lambda: bytearray(1 << 16))
    regions: dict[int, Region] = field(default_factory=dict)
    windows: dict[int, Window] = field(default_factory=dict)
    _index: int = 0x10

    def _key(self) -> int:
        self._index += 1
        return self._index << 8 | 0x01

    def register(self, pd: ProtectionDomain, address: int, length: int, access: Access) -> Region:
        """ibv_reg_mr."""
        if access & WRITING and not access & Access.LOCAL_WRITE:
            raise VerbsError("EINVAL", "remote write or atomic needs local write")
        region = Region(pd, address, length, access, self._key())
        self.regions[region.key] = region
        return region

    def deregister(self, region: Region) -> None:
        """ibv_dereg_mr."""
        if region.windows:
            raise VerbsError("EBUSY", "a memory window is bound")
        del self.regions[region.key]

    def allocate_window(self, pd: ProtectionDomain, kind: int) -> Window:
        """ibv_alloc_mw: not bound yet."""
        window = Window(pd, kind, self._key())
        self.windows[window.rkey >> 8] = window
        return window

    def bind(self, window: Window, qpn: int, pd: ProtectionDomain, request: Bind) -> bool:
        """Carry out a bind; False gives IBV_WC_MW_BIND_ERR."""
        region, bound = request.region, window.region is not None
        if window.kind == 2 and (bound or window.pd is not pd or request.length == 0):
            return False
        if request.length and not (
            region.pd is window.pd
            and region.access & Access.MW_BIND
            and (region.access & Access.LOCAL_WRITE or not request.access & WRITING)
            and region.holds(request.address, request.length)
        ):
            return False
        self._unbind(window)
        window.rkey = window.rkey & ~0xFF | request.key
        if request.length:
            window.region, window.access = region, request.access
            window.address, window.length = request.address, request.length
            window.qpn = qpn if window.kind == 2 else None
            region.windows += 1
        return True

    def invalidate(self, rkey: int) -> bool:
        """LOCAL_INV or SEND_WITH_INV: a bound type 2 window only."""
        window = self.windows.get(rkey >> 8)
        if window is None or window.rkey != rkey or window.kind != 2 or window.region is None:
            return False
        self._unbind(window)
        return True

    def _unbind(self, window: Window) -> None:
        if window.region is not None:
            window.region.windows -= 1
        window.region, window.length, window.qpn = None, 0, None

    def local(
        self, pd: ProtectionDomain, lkey: int, address: int, length: int, need: Access
    ) -> bool:
        """Whether a scatter/gather entry is good for this queue pair."""
        region = self.regions.get(lkey)
        return (
            region is not None
            and region.pd is pd
            and region.access & need == need
            and region.holds(address, length)
        )

    def remote(
        self, pd: ProtectionDomain, qpn: int, rkey: int, span: tuple[int, int], need: Access
    ) -> bool:
        """Whether a request from the wire may touch the range (address, length)."""
        window = self.windows.get(rkey >> 8)
        if window is not None:
            return (
                window.rkey == rkey
                and window.region is not None
                and window.pd is pd
                and window.qpn in (None, qpn)
                and window.access & need == need
                and window.address <= span[0]
                and span[0] + span[1] <= window.address + window.length
            )
        return self.local(pd, rkey, span[0], span[1], need)

    def read(self, address: int, length: int) -> bytes:
        return bytes(self.data[address : address + length])

    def write(self, address: int, data: bytes) -> None:
        self.data[address : address + len(data)] = data


@dataclass(frozen=True)
class Bind:
    """What to bind; `key` is the new low byte of the rkey."""

    region: Region
    address: int
    length: int
    access: Access
    key: int
