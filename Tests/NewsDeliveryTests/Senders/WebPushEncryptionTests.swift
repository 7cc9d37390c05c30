import Crypto
import Foundation
import NewsDelivery
import Testing

/// The examples of RFC 8188 and RFC 8291.
@Suite struct WebPushEncryptionTests {
  private static func bytes(_ text: String) throws -> [UInt8] { Array(try #require(Data(base64URL: text))) }

  @Test("The content coding has the bytes of RFC 8188 section 3.1")
  func contentCoding() throws {
    let content = try EncryptedContent.encrypt(
      Array("I am the walrus".utf8), key: SymmetricKey(data: Self.bytes("yqdlZ-tYemfogSmv7Ws5PQ")),
      salt: Self.bytes("I1BsxtFttlv3u_Oo94xnmw"), keyID: [])
    #expect(
      try content == Self.bytes("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg"))
  }

  @Test("The encryption has the bytes of RFC 8291 section 5")
  func message() throws {
    let message = try WebPushEncryption.encrypt(
      Array("When I grow up, I want to be a watermelon".utf8),
      receiver: Self.bytes(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
      secret: Self.bytes("BTBZMqHH6r4Tts7J_aSIgg"),
      sender: P256.KeyAgreement.PrivateKey(
        rawRepresentation: Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")),
      salt: Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"))
    #expect(
      try message
        == Self.bytes(
          "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PB"
            + "ru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"))
  }

  @Test("Keys and salts are used once")
  func freshKeys() throws {
    let receiver = Array(P256.KeyAgreement.PrivateKey().publicKey.x963Representation)
    let secret = [UInt8](repeating: 1, count: 16)
    let messages = try (0..<3).map { _ in
      try WebPushEncryption.encrypt([1, 2, 3], receiver: receiver, secret: secret)
    }
    #expect(Set(messages.map { Array($0[..<16]) }).count == 3)
    #expect(Set(messages.map { Array($0[21..<86]) }).count == 3)
  }

  @Test("A public key that is not a point on the curve is refused")
  func invalidKeys() {
    let secret = [UInt8](repeating: 1, count: 16)
    for receiver in [[], [4] + [UInt8](repeating: 1, count: 64), [UInt8](repeating: 4, count: 64)] {
      #expect(throws: (any Error).self) {
        try WebPushEncryption.encrypt([1], receiver: receiver, secret: secret)
      }
    }
  }
}
