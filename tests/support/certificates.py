"""Certificates for tests of TLS: an authority of their own, and files as a service is given them."""

from __future__ import annotations

from pathlib import Path

import trustme

from services.kit.calls import TlsFiles


class Authority:
    """Issues certificates into a folder; each service finds there what it needs."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._authority = trustme.CA()
        self.file = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(self.file)

    def issue(self, name: str, *, person: str | None = None) -> TlsFiles:
        """A certificate for a service of this name, or for an operator; issued again, it takes the place of the one
        before."""
        issued = self._authority.issue_cert(name, common_name=person)
        certificate, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        certificate.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(key)
        return TlsFiles(str(certificate), str(key), str(self.file))

    def settings(self, name: str) -> dict[str, str]:
        """The variables of the environment of a service with a new certificate."""
        files = self.issue(name)
        return {
            "MAGNATE_TLS_CERT": files.certificate,
            "MAGNATE_TLS_KEY": files.key,
            "MAGNATE_TLS_CA": files.authorities,
        }
