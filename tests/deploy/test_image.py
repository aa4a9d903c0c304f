"""The container build file."""

from __future__ import annotations

import re

from tests.support.cluster import ROOT, SERVICES, pods

BUILD = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
WANTED = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"]


def test_the_base_is_a_parameter_and_both_stages_stand_on_it() -> None:
    assert re.findall(r"^FROM (\S+)", BUILD, re.MULTILINE) == ["${BASE_IMAGE}", "${BASE_IMAGE}"]
    (base,) = re.findall(r"^ARG BASE_IMAGE=(\S+)$", BUILD, re.MULTILINE)
    name, _, version = base.partition(":")
    assert "/" not in name, "no registry is named"
    assert re.match(r"3\.\d+", version)


def test_only_what_the_lock_knows_is_fetched() -> None:
    installs = re.findall(r"pip [^&]*?\b(?:install|wheel)\b[^&]*", BUILD)
    assert len(installs) == 4
    for line in installs:
        assert "--require-hashes" in line or "--no-index" in line, line


def test_it_is_not_root_and_has_the_users_number_of_the_cluster() -> None:
    (user,) = re.findall(r"^ARG USER_ID=(\d+)$", BUILD, re.MULTILINE)
    assert re.search(r"^USER \$\{USER_ID\}:\$\{USER_ID\}$", BUILD, re.MULTILINE)
    for name in (*SERVICES, "migrate"):
        assert pods("prod")[name].spec["securityContext"]["runAsUser"] == int(user)


def test_what_it_copies_exists_and_is_let_in() -> None:
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", BUILD, re.MULTILINE) for name in line.split()]
    assert sorted(copied) == sorted(WANTED)
    assert all((ROOT / name).exists() for name in copied)


def test_the_ports_of_all_services_are_named() -> None:
    (exposed,) = re.findall(r"^EXPOSE (.+)$", BUILD, re.MULTILINE)
    ports = {port for name in SERVICES for port in pods("prod")[name].ports.values()}
    assert {int(port) for port in exposed.split()} == ports
