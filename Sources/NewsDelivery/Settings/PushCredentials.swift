import Crypto
public import Foundation
import JWTKit
import News
import OutgoingHTTP

/// The key by which APNs knows the server as a provider of apps.
public struct APNsCredentials: Sendable {
  let key: ES256PrivateKey
  let keyID: String
  let teamID: String

  /// Creates credentials.
  ///
  /// - Parameters:
  ///   - pem: The content of the file that Apple issues (`.p8`).
  ///   - keyID: The id of the key.
  ///   - teamID: The id of the developer team.
  /// - Throws: An error if the text is not a P-256 key.
  public init(pem: String, keyID: String, teamID: String) throws {
    key = try ES256PrivateKey(pem: pem)
    self.keyID = keyID
    self.teamID = teamID
  }
}

/// The service account by which FCM knows the server.
public struct FCMCredentials: Sendable {
  /// The content is not the key of a service account.
  public struct InvalidAccount: Error, Sendable {
    /// The rule that the content breaks.
    public let rule: String
  }

  private struct Content: Decodable {
    var type: String?
    var projectId: String?
    var privateKeyId: String?
    var privateKey: String?
    var clientEmail: String?
    var tokenUri: String?
  }

  let projectID: String
  let clientEmail: String
  let keyID: String?
  let key: JWTKit.Insecure.RSA.PrivateKey
  package let tokenURI: String

  /// Creates credentials.
  ///
  /// - Parameter json: The content of the file that the console of Firebase issues.
  /// - Throws: `InvalidAccount`.
  public init(json: Data) throws(InvalidAccount) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let content = try? decoder.decode(Content.self, from: json), content.type == "service_account" else {
      throw InvalidAccount(rule: "must name the JSON file of a service account")
    }
    func value(_ value: String?, _ name: String) throws(InvalidAccount) -> String {
      guard let value, !value.isEmpty else { throw InvalidAccount(rule: "must name a file with \(name)") }
      return value
    }
    projectID = try value(content.projectId, "project_id")
    guard projectID.utf8.allSatisfy({ $0.isASCIILowercase || $0.isASCIIDigit || ":.-".utf8.contains($0) }) else {
      throw InvalidAccount(rule: "must name a file whose project_id has only lower-case letters, digits and -")
    }
    clientEmail = try value(content.clientEmail, "client_email")
    let uri = content.tokenUri ?? ""
    tokenURI = uri.isEmpty ? "https://oauth2.googleapis.com/token" : uri
    // The request has an assertion that is as good as a password for an hour.
    guard let url = try? OutgoingURL(tokenURI), url.isSafeForSecrets else {
      throw InvalidAccount(rule: "must name a file whose token_uri is an https URL")
    }
    keyID = content.privateKeyId
    guard let key = try? JWTKit.Insecure.RSA.PrivateKey(pem: try value(content.privateKey, "private_key")) else {
      throw InvalidAccount(rule: "must name a file whose private_key is an RSA key of at least 2048 bits, as PEM")
    }
    self.key = key
  }
}

/// The key by which push services of browsers know the server (VAPID, RFC 8292).
public struct VAPIDCredentials: Sendable {
  let key: P256.Signing.PrivateKey
  let subject: String
  /// The public key that pages subscribe with (`applicationServerKey`): an uncompressed point in base64url.
  public let publicKey: String

  /// Creates credentials.
  ///
  /// - Parameters:
  ///   - pem: A P-256 private key.
  ///   - subject: A `mailto:` or `https:` URL at which operators of push services reach the operator of the server.
  /// - Throws: An error if the text is not a P-256 key.
  public init(pem: String, subject: String) throws {
    key = try P256.Signing.PrivateKey(pemRepresentation: pem)
    self.subject = subject
    publicKey = String(base64URL: key.publicKey.x963Representation)
  }
}
