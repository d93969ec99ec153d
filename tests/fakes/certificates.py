"""Certificates of an authority of the test's own."""

import datetime
import hashlib
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Key = ec.EllipticCurvePrivateKey
DAY = datetime.timedelta(days=1)


class Authority:
    """
    Attributes:
        file: its certificate, as a company would hand it out.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._key, self._name = folder, ec.generate_private_key(ec.SECP256R1()), _name("authority of the test")
        certificate = _signed(
            self._name, self._name, self._key, self._key, x509.BasicConstraints(ca=True, path_length=None), age=DAY, life=2 * DAY
        )
        self.file = folder / "authority.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    @property
    def hashed_name(self) -> str:
        """What OpenSSL looks for in a folder of authorities; the name of this one is in the form that it makes the hash of."""
        digest = hashlib.sha1(self._name.public_bytes()[2:]).digest()
        return f"{int.from_bytes(digest[:4], 'little'):08x}.0"

    def server_context(self, *, address: str = "127.0.0.1", is_expired: bool = False) -> ssl.SSLContext:
        """What a server at an address needs to be trusted by whoever trusts the authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        life = DAY if is_expired else 3 * DAY
        certificate = _signed(_name("server"), self._name, key, self._key, alternative, age=2 * DAY, life=life)
        file = self._folder / f"server-{address}-{is_expired}.pem"
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _signed(
    subject: x509.Name,
    issuer: x509.Name,
    key: Key,
    by: Key,
    extension: x509.ExtensionType,
    *,
    age: datetime.timedelta,
    life: datetime.timedelta,
) -> x509.Certificate:
    begin = datetime.datetime.now(datetime.UTC) - age
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number(), begin, begin + life)
    return builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints)).sign(by, hashes.SHA256())
