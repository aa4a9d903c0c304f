"""Pure parts: rates, versions, addresses, the place of an update."""

from __future__ import annotations

import pytest

from gateway.domain.addresses import address_of
from gateway.domain.continuity import Place, place_of
from gateway.domain.contract_version import is_served, parse_version
from gateway.domain.rates import Rates


def test_a_bucket_empties_and_fills() -> None:
    """A burst, then as many as the rate allows; the wait that is told is long enough."""
    rates = Rates(per_second=2.0, burst=3.0)
    assert [rates.take("a", 10.0) for _ in range(4)] == [0, 0, 0, 500]
    assert rates.take("b", 10.0) == 0
    assert rates.take("a", 10.4) == 100
    assert rates.take("a", 10.5) == 0
    assert rates.take("a", 10.5) == 500
    assert [rates.take("a", 99.0) for _ in range(4)] == [0, 0, 0, 500]


def test_a_rate_of_zero_limits_nothing() -> None:
    """And remembers nobody."""
    rates = Rates(per_second=0.0, burst=0.0)
    assert {rates.take("a", 0.0) for _ in range(1_000)} == {0}
    assert len(rates) == 0


def test_keys_are_bounded() -> None:
    """Full buckets are forgotten first; under attack the oldest."""
    rates = Rates(per_second=1.0, burst=10.0, max_keys=100)
    for number in range(100):
        rates.take(f"old{number}", 0.0)
    rates.take("new", 100.0)
    assert len(rates) == 1
    for number in range(1_000):
        rates.take(f"attack{number}", 100.0)
    assert len(rates) <= 100


@pytest.mark.parametrize(
    ("peer", "forwarded", "hops", "address"),
    [
        ("ipv4:10.0.0.7:4711", "", 0, "10.0.0.7"),
        ("ipv6:%5B::1%5D:4711", "", 0, "::1"),
        ("ipv6:[2001:db8::1]:80", "", 0, "2001:db8::1"),
        ("unix:", "", 0, "local"),
        ("local", "", 0, "local"),
        ("ipv4:10.0.0.7:4711", "1.2.3.4", 0, "10.0.0.7"),
        ("ipv4:10.0.0.7:4711", "6.6.6.6, 1.2.3.4", 1, "1.2.3.4"),
        ("ipv4:10.0.0.7:4711", "6.6.6.6, 1.2.3.4, 10.0.0.9", 2, "1.2.3.4"),
        ("ipv4:10.0.0.7:4711", "1.2.3.4", 2, "10.0.0.7"),
    ],
)
def test_the_address_of_a_caller(peer: str, forwarded: str, hops: int, address: str) -> None:
    """Only what one's own proxies have written is believed."""
    assert address_of(peer, forwarded, trusted_hops=hops) == address


def test_contract_versions() -> None:
    """Same major, not below the oldest."""
    assert parse_version("1.12") == (1, 12)
    for text in ("", "1", "1.", "1.0.0", "v1.0", "1.0 ", "٣.١", "1" * 7 + ".0"):
        assert parse_version(text) is None
    bounds = {"current": (2, 5), "oldest": (2, 3)}
    served = [(2, 3), (2, 5), (2, 9)]
    assert [v for v in [(1, 9), (2, 2), *served, (3, 0)] if is_served(v, **bounds)] == served


def test_the_place_of_an_update() -> None:
    """Next, seen, or behind a gap; one that holds the last number inside is next."""
    assert place_of(5, 6, 6) is Place.NEXT
    assert place_of(5, 6, 9) is Place.NEXT
    assert place_of(5, 4, 7) is Place.NEXT
    assert place_of(5, 4, 5) is Place.SEEN
    assert place_of(5, 7, 7) is Place.GAP
    assert place_of(0, 1, 3) is Place.NEXT
