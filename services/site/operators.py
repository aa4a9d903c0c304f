"""How whoever types `magnate admin` or `magnate clock` shows who he is."""

from __future__ import annotations

import getpass
import sys

from services.kit.tls_settings import TlsSettings
from services.site.errors import CommandError


def operator_token(token: str, settings: TlsSettings) -> str:
    """This token, or without one what is typed at the terminal; empty where only the certificate is shown.

    A certificate alone does not say that it is an operator's: within a pod it is the service's own. Raises
    CommandError when nothing is typed and there is no certificate, SettingsError.
    """
    if token or not sys.stdin.isatty():
        return token
    has_certificate = settings.tls() is not None
    typed = getpass.getpass(f"operator's token{' (empty: by certificate)' if has_certificate else ''}: ").strip()
    if not typed and not has_certificate:
        raise CommandError("without a token and without a certificate nobody is an operator", status=2)
    return typed
