import Foundation
import HTTPConditions

extension HTTPTransportResponse {
  /// The entity tag if it is strong, because only a strong tag identifies equal bytes.
  var strongTag: String? { self["ETag"].flatMap { $0.hasPrefix("\"") && $0.count > 2 ? $0 : nil } }

  /// The SHA-256 of the whole content in hexadecimal digits, from `Repr-Digest` (RFC 9530, section 3).
  var reprSHA256: String? {
    guard case .sha256(let digest) = DigestField(lines: self[all: "Repr-Digest"]) else { return nil }
    return digest.hexadecimal
  }
}
