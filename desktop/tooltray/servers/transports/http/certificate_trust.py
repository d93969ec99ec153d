"""The trusted certificate authorities: the operating system's store, and the files named by environment variables.

Companies have their own certificate authorities. Their staff has set the variable of one program or another and expects every program to
honour it, so the variables of all common programs are read.
"""

import logging
import os
import ssl
from collections.abc import Mapping
from functools import lru_cache

import truststore

logger = logging.getLogger(__name__)

FILE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE")
FOLDER_VARIABLE = "SSL_CERT_DIR"  # several, as in PATH
REMEMBERED = 4  # contexts; each holds its authorities in memory, and one environment needs one


def tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Returns a TLS context for clients. A certificate file that cannot be read is logged and left out.

    Reads files, so it must be called in a thread.

    Args:
        environ: the user's login-shell environment.
    """
    named = {environ.get(variable, "") for variable in FILE_VARIABLES} | set(environ.get(FOLDER_VARIABLE, "").split(os.pathsep))
    return _context(tuple((path, _changed_at(path)) for path in sorted(named) if path))


@lru_cache(maxsize=REMEMBERED)
def _context(places: tuple[tuple[str, int], ...]) -> ssl.SSLContext:
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    for path, _ in places:
        try:
            is_folder = os.path.isdir(path)
            context.load_verify_locations(cafile=None if is_folder else path, capath=path if is_folder else None)
        except OSError as error:  # SSLError is one
            logger.info("certificates in %s are not used: %s", path, error.strerror or type(error).__name__)
    return context


def _changed_at(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None
