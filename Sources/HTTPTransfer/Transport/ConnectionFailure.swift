import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL

/// The reasons of failed requests, in words for users.
enum ConnectionFailure {
  /// Returns the reason of an error, without a full stop and without details of libraries.
  static func reason(_ error: any Error) -> String {
    switch error {
    case let error as HTTPTransportError: error.message
    case let error as IOError: StorageFailure.system(error.errnoCode)
    case let error as NIOConnectionError: connection(error)
    case is SocketAddressError: "the name cannot be resolved"
    case _ where detail(error) == .earlyEnd: "the server closed the connection"
    case let error as HTTPClientError: client(error)
    case is NIOHTTPDecompression.DecompressionError:
      detail(error) == .tooLarge ? "too large when it is unpacked" : "the compressed data is damaged"
    case let error as NIOHTTPDecompression.ExtraDecompressionError:
      error == .truncatedData ? "the compressed data ends early" : "bytes follow the end of the compressed data"
    case is HTTPParserError: "the response is not valid HTTP"
    case let error as ChannelError: channel(error)
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: handshake(error)
    default: other(error)
    }
  }

  /// Returns the detail of an error that needs a message of its own; nil for none.
  static func detail(_ error: any Error) -> HTTPTransportError.Detail? {
    switch error {
    case HTTPParserError.invalidEOFState: .earlyEnd
    case let error as HTTPClientError where error == .remoteConnectionClosed: .earlyEnd
    case NIOHTTPDecompression.DecompressionError.limit: .tooLarge
    case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError: .coding
    default: nil
    }
  }

  private static func connection(_ error: NIOConnectionError) -> String {
    if let failure = error.connectionErrors.first { return reason(failure.error) }
    return "the name '\(error.host)' cannot be resolved"
  }

  private static func client(_ error: HTTPClientError) -> String {
    switch error {
    case .connectTimeout: "the connection attempt timed out"
    case .readTimeout, .deadlineExceeded: "the server sent no data in time"
    case .tlsHandshakeTimeout: "the TLS handshake timed out"
    case .cancelled: "the request was cancelled"
    case .proxyAuthenticationRequired: "the proxy demands a user name and a password"
    case .invalidProxyResponse: "the proxy refused the connection"
    default: error.shortDescription.prefix(1).lowercased() + error.shortDescription.dropFirst()
    }
  }

  private static func channel(_ error: ChannelError) -> String {
    switch error {
    case .connectTimeout: "the connection attempt timed out"
    default: "the connection was closed"
    }
  }

  /// The reason if only the refusal of a certificate is known.
  static let untrusted = "the server's certificate is not trusted, or has expired"

  /// Returns texts for the errors of BoringSSL that users can act on. Its own texts name source files of its build.
  private static func handshake(_ error: any Error) -> String {
    let text = String(describing: error)
    let known = [
      ("CERTIFICATE_VERIFY_FAILED", untrusted),
      ("failedToValidateHostname", "the server's certificate is for another name"),
      ("WRONG_VERSION_NUMBER", "the server does not use TLS on this port"),
      ("UNSUPPORTED_PROTOCOL", "the server does not support TLS 1.2 or later"),
      ("PROTOCOL_VERSION", "the server does not support TLS 1.2 or later"),
      ("HANDSHAKE_FAILURE", "the server refused the TLS handshake"),
      ("uncleanShutdown", "the connection was interrupted"),
      ("eofDuringHandshake", "the server closed the connection during the TLS handshake"),
    ]
    return known.first { text.contains($0.0) }?.1 ?? "the TLS handshake failed"
  }

  private static func other(_ error: any Error) -> String {
    let text = String(describing: error)
    // Type names and source paths mean nothing to users.
    return text.contains("(") || text.contains("/") ? "the connection failed" : text
  }
}
