public import Foundation
import NIOSSL

/// The ways in which a transport connects: proxies and certificate authorities.
///
///     var options = ConnectionOptions()
///     options.proxies = try ProxySettings(address: "http://proxy.example:3128")
///     try options.trust(certificatesIn: URL(filePath: "/etc/harbour/ca.pem"))
///     let transport = AsyncHTTPTransport(options: options)
///     _ = try await transport.get(URL(string: "https://news.example/v1/state")!, headers: [])
public struct ConnectionOptions: Sendable, Hashable {
  /// The reason why certificates cannot be used.
  ///
  ///     do {
  ///       var options = ConnectionOptions()
  ///       try options.trust(certificatesIn: URL(filePath: "/etc/harbour/ca.pem"))
  ///     } catch let failure as ConnectionOptions.InvalidCertificates {
  ///       print(failure)
  ///     }
  public struct InvalidCertificates: Error, Hashable, CustomStringConvertible {
    /// A sentence about the file.
    public let description: String
  }

  /// The proxies; none by default.
  public var proxies = ProxySettings()
  /// The certificate authorities that are trusted besides those of the system.
  private(set) var certificates: [NIOSSLCertificate] = []
  /// The certificate authorities that are trusted in place of those of the system; nil for those of the system.
  private(set) var authorities: [NIOSSLCertificate]?

  /// Creates options without a proxy, and with the certificate authorities of the system.
  public init() {}

  /// Trusts further certificate authorities, such as that of a company. Those of the system stay trusted.
  ///
  /// - Parameter file: A file with certificates in PEM.
  /// - Throws: ``InvalidCertificates`` if the file cannot be read, or has no certificate.
  public mutating func trust(certificatesIn file: URL) throws { certificates += try Self.certificates(in: file) }

  /// Reads the variable `SSL_CERT_FILE`, which names the file of the system's certificate authorities, as OpenSSL does. Without
  /// it, nothing changes.
  ///
  /// - Parameter environment: The variables of a process.
  /// - Throws: ``InvalidCertificates`` if the file cannot be read, or has no certificate.
  public mutating func useAuthorities(of environment: [String: String]) throws {
    guard let path = environment["SSL_CERT_FILE"], !path.isEmpty else { return }
    do {
      authorities = try Self.certificates(in: URL(filePath: path))
    } catch let failure as InvalidCertificates {
      throw InvalidCertificates(description: "\(failure.description) (SSL_CERT_FILE)")
    }
  }

  private static func certificates(in file: URL) throws -> [NIOSSLCertificate] {
    let path = file.path(percentEncoded: false)
    guard let data = FileManager.default.contents(atPath: path) else {
      throw InvalidCertificates(description: "cannot read the certificates in \(path)")
    }
    let new = (try? NIOSSLCertificate.fromPEMBytes(Array(data))) ?? []
    if new.isEmpty { throw InvalidCertificates(description: "\(path) has no certificate in PEM") }
    return new
  }
}
