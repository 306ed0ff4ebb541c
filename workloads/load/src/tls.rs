//! TLS: whose certificates are trusted, and the session of a connection.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_name, WebPkiServerVerifier};
use rustls::crypto::{ring, verify_tls12_signature, verify_tls13_signature, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore};
use rustls::{SignatureScheme, StreamOwned};
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

/// Where systems keep the certificates of authorities.
const SYSTEM: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How a server is asked over TLS.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

/// Whom all connections trust: with `insecure` everybody, else the authorities of the file `ca`, or of the system.
///
/// An error is one sentence.
pub fn trust(insecure: bool, ca: &str) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let trust = if insecure { Trust { provider, authorities: None, given: Vec::new() } } else { read(provider, ca)? };
    let config = ClientConfig::builder_with_provider(trust.provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?;
    let mut config = config.dangerous().with_custom_certificate_verifier(Arc::new(trust)).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read(provider: Arc<CryptoProvider>, ca: &str) -> Result<Trust, String> {
    let file =
        if ca.is_empty() { SYSTEM.into_iter().find(|file| Path::new(file).is_file()).unwrap_or(SYSTEM[0]) } else { ca };
    let read = CertificateDer::pem_file_iter(file).and_then(|all| all.collect::<Result<Vec<_>, _>>());
    let given = read.map_err(|error| format!("ca={file}: {error}"))?;
    let mut roots = RootCertStore::empty();
    // A system may hold some that no library reads.
    roots.add_parsable_certificates(given.iter().cloned());
    let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    let authorities = authorities.map_err(|_| format!("ca={file}: it has no certificate (PEM)"))?;
    Ok(Trust { provider, authorities: Some(authorities), given: if ca.is_empty() { Vec::new() } else { given } })
}

impl Tls {
    /// Of a server that is named as HOST:PORT. None: no certificate can have that name.
    pub fn new(config: &Arc<ClientConfig>, host: &str) -> Option<Self> {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
        Some(Tls { config: config.clone(), name: ServerName::try_from(name.to_string()).ok()? })
    }

    /// The session of a new connection, which takes a request before the two sides have agreed.
    pub fn session(&self) -> io::Result<Box<ClientConnection>> {
        let session = ClientConnection::new(self.config.clone(), self.name.clone());
        let mut session = session.map_err(io::Error::other)?;
        session.set_buffer_limit(None);
        Ok(Box::new(session))
    }

    /// A connection that blocks.
    pub fn stream(&self, socket: TcpStream) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        Ok(StreamOwned::new(*self.session()?, socket))
    }
}

/// Reads what has come, and of it what is no longer encrypted; 0: the connection was closed.
pub fn read_session(session: &mut ClientConnection, socket: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    if session.read_tls(socket)? == 0 {
        return Ok(0);
    }
    session.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    io::Read::read(&mut session.reader(), buffer)
}

/// Writes what a session has to send; whether there is some left, for which there is no room.
pub fn write_session(session: &mut ClientConnection, socket: &mut TcpStream) -> io::Result<bool> {
    while session.wants_write() {
        match session.write_tls(socket) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// What is wrong between the two sides, in words; None: it is no error of TLS.
pub fn words(error: &io::Error) -> Option<String> {
    match error.get_ref()?.downcast_ref::<Error>()? {
        // Whose certificate is its own authority is said to be none that a server may have.
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_)) => Some(
            "its certificate does not verify: nobody trusted signed it; name its file (ca), or take any (insecure)"
                .into(),
        ),
        Error::InvalidCertificate(why) => Some(format!("its certificate does not verify: {why}")),
        Error::InvalidMessage(_) => Some("it does not speak TLS".into()),
        other => Some(format!("TLS: {other}")),
    }
}

/// Which certificates are taken.
#[derive(Debug)]
struct Trust {
    provider: Arc<CryptoProvider>,
    /// None: any certificate is.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    /// Those of a file that was named: a server may have one of them itself.
    given: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(own, between, name, ocsp, now) {
            // What openssl makes for a server of one's own is by its flags an authority, which no server may be.
            Err(Error::InvalidCertificate(CertificateError::Other(_))) if self.given.contains(own) => {
                verify_server_name(&ParsedCertificate::try_from(own)?, name).map(|()| ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
