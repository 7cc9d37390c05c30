import ArgumentParser
import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1

/// A silent message, with the headers and the sizes that the server sends.
struct BareMessage: Sendable {
  enum Service: String, ExpressibleByArgument, Sendable {
    case apns, fcm, webpush
  }

  private static let fields = """
    "content-id":"01a1da5c-3a40-7c11-9d0e-52b7c1e0a4f6","push":"3f0c5b0e-7f4d-4a55-9a43-5f2e5f0e6a11",\
    "token":"1k3x9qam9pkx.10"
    """

  private let service: Service
  private let url: String
  private let headers: HTTPHeaders
  private let receiver: [UInt8]
  private let secret: [UInt8]

  /// - Parameters:
  ///   - url: The address of the service without a trailing slash.
  ///   - token: The access token of FCM.
  init(service: Service, url: String, token: String) {
    self.service = service
    self.url = url
    receiver = Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
    secret = Self.random(16)
    // Mocks in light mode do not check the signatures of these tokens.
    let jwt = String(repeating: "x", count: service == .apns ? 200 : 250)
    headers =
      switch service {
      case .apns:
        [
          "authorization": "bearer \(jwt)", "apns-topic": "org.example.news", "apns-push-type": "background",
          "apns-priority": "5", "apns-expiration": "\(Int(Date().timeIntervalSince1970) + 86_400)",
          "apns-collapse-id": "news", "content-type": "application/json",
        ]
      case .fcm: ["authorization": "Bearer \(token)", "content-type": "application/json"]
      case .webpush:
        [
          "authorization": "vapid t=\(jwt), k=\(String(repeating: "k", count: 87))", "content-encoding": "aes128gcm",
          "content-type": "application/octet-stream", "ttl": "86400", "urgency": "low", "topic": "news",
        ]
      }
  }

  /// Returns the request for a device.
  ///
  /// - Parameter number: The number of the device, from 0.
  func request(_ number: Int) throws -> HTTPClientRequest {
    let device = String(format: "%064x", number)
    let path =
      switch service {
      case .apns: "/3/device/\(device)"
      case .fcm: "/v1/projects/mock-news/messages:send"
      case .webpush: "/push/shared-bare-\(device)"
      }
    var request = HTTPClientRequest(url: url + path)
    request.method = .POST
    request.headers = headers
    if service == .apns { request.headers.add(name: "apns-id", value: UUID().uuidString.lowercased()) }
    request.body = .bytes(ByteBuffer(bytes: try body(device)))
    return request
  }

  private func body(_ device: String) throws -> [UInt8] {
    switch service {
    case .apns: Array("{\"aps\":{\"content-available\":1},\(Self.fields)}".utf8)
    case .fcm:
      Array(
        """
        {"message":{"android":{"collapse_key":"news","priority":"NORMAL","ttl":"86400s"},"data":{\(Self.fields)},\
        "token":"bare:\(device)\(device)"}}
        """.utf8)
    case .webpush: try encrypted(Array("{\(Self.fields)}".utf8))
    }
  }

  /// Encrypts a message for a receiver of Web Push (RFC 8291).
  private func encrypted(_ message: [UInt8]) throws -> [UInt8] {
    let sender = P256.KeyAgreement.PrivateKey()
    let senderKey = sender.publicKey.x963Representation
    let salt = Self.random(16)
    let key = try sender.sharedSecretFromKeyAgreement(
      with: P256.KeyAgreement.PublicKey(x963Representation: receiver)
    ).hkdfDerivedSymmetricKey(
      using: SHA256.self, salt: secret, sharedInfo: Array("WebPush: info\0".utf8) + receiver + senderKey,
      outputByteCount: 32)
    let extracted = HKDF<SHA256>.extract(inputKeyMaterial: key, salt: salt)
    func derived(_ name: String, _ count: Int) -> SymmetricKey {
      HKDF<SHA256>.expand(
        pseudoRandomKey: extracted, info: Array("Content-Encoding: \(name)\0".utf8), outputByteCount: count)
    }
    let nonce = try derived("nonce", 12).withUnsafeBytes { try AES.GCM.Nonce(data: $0) }
    let sealed = try AES.GCM.seal(message + [2], using: derived("aes128gcm", 16), nonce: nonce)
    return salt + [0, 0, 16, 0, 65] + senderKey + sealed.ciphertext + sealed.tag
  }

  /// Returns random bytes.
  static func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in .random(in: .min ... .max, using: &generator) }
  }
}
