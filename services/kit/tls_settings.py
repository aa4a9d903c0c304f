"""The settings of TLS between services, for whatever takes part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.kit.calls import Proof, TlsError, TlsFiles, operator_proofs
from services.kit.settings import Settings, SettingsError, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings(Settings):
    """Who this process is to the others, and whom it believes."""

    tls_certificate: str = setting(
        "MAGNATE_TLS_CERT",
        "",
        "PEM file of the certificate by which this process is known to the other services; empty: no TLS between them",
    )
    tls_key: str = setting("MAGNATE_TLS_KEY", "", "PEM file of the key of that certificate")
    tls_authorities: str = setting(
        "MAGNATE_TLS_CA", "", "PEM file of the authorities by which the other services' certificates are checked"
    )

    def check(self) -> None:
        self.tls()

    def tls(self) -> TlsFiles | None:
        """The files of TLS between services; None without. Raises SettingsError."""
        names = (self.tls_certificate, self.tls_key, self.tls_authorities)
        if not any(names):
            return None
        if not all(names):
            raise SettingsError("MAGNATE_TLS_CERT, MAGNATE_TLS_KEY and MAGNATE_TLS_CA go together: all or none of them")
        return usable(TlsFiles(*names))


def operators(named: str) -> Sequence[Proof]:
    """Proofs of the operators in MAGNATE_OPERATORS. Raises SettingsError."""
    try:
        return operator_proofs(named)
    except ValueError as error:
        raise SettingsError(f"MAGNATE_OPERATORS is (a secret) that is not allowed: {error}") from None


def usable(files: TlsFiles) -> TlsFiles:
    """The files themselves. Raises SettingsError if they cannot be used."""
    try:
        files.check()
    except TlsError as error:
        raise SettingsError(str(error)) from None
    return files
