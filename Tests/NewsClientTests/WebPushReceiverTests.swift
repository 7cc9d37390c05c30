import Foundation
import News
import NewsClient
import Testing

@Suite("A receiver of Web Push") struct WebPushReceiverTests {
  /// The message of RFC 8291, appendix A.
  private static let message =
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
    + "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"

  private func receiver() throws -> WebPushReceiver {
    try WebPushReceiver(
      privateKey: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94", auth: "BTBZMqHH6r4Tts7J_aSIgg")
  }

  private func bytes() throws -> [UInt8] { try #require([UInt8](base64URL: Self.message)) }

  @Test("decrypts the example of RFC 8291, and has the public key of it")
  func example() throws {
    let receiver = try receiver()
    #expect(
      receiver.keys.p256dh
        == "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    let text = try receiver.decrypt(Data(bytes()))
    #expect(String(decoding: text, as: UTF8.self) == "When I grow up, I want to be a watermelon")
  }

  @Test("refuses a message of which any byte is changed or missing, and those of others")
  func changes() throws {
    let (receiver, message) = (try receiver(), try bytes())
    // The record size may be larger than the record.
    for index in message.indices where !(16..<20 ~= index) {
      var changed = message
      changed[index] ^= 1
      #expect(throws: WebPushReceiver.Failure.self, "byte \(index)") { try receiver.decrypt(Data(changed)) }
      #expect(throws: WebPushReceiver.Failure.self) { try receiver.decrypt(Data(message[..<index])) }
    }
    #expect(throws: WebPushReceiver.Failure.self) { try receiver.decrypt(Data(message + [0])) }
    #expect(throws: WebPushReceiver.Failure.self) { try receiver.decrypt(Data(repeating: 65, count: 5000)) }
    #expect(throws: WebPushReceiver.Failure.self) { try WebPushReceiver().decrypt(Data(message)) }
  }

  @Test("refuses a message whose record is not the last one, because more was to follow")
  func unfinished() throws {
    // Both contain `{}`, encrypted for this receiver. The first record ends with 2, the second one with 1.
    let complete =
      "LUwIm8urml82Sna16ZO9yAAAEABBBCF8sI3vqowuUKEYR4BHauQg7UMjzdKeo59lVulM_7kIetv1w4dx__EPuNxHV1m2J-zCrrjB"
      + "6wXywkjjIX1zIdYJgg2SWSL5twKoXqatecdoy7BT"
    let unfinished =
      "JVxRopUMBEDA2RTQKu8x8gAAEABBBCF8sI3vqowuUKEYR4BHauQg7UMjzdKeo59lVulM_7kIetv1w4dx__EPuNxHV1m2J-zCrrjB"
      + "6wXywkjjIX1zIdYRBSuMmV3vFxVVSdq_8CrBg8QN"
    #expect(try receiver().decrypt(Data(try #require([UInt8](base64URL: complete)))) == Data("{}".utf8))
    let failure = #expect(throws: WebPushReceiver.Failure.self) {
      try receiver().decrypt(Data(try #require([UInt8](base64URL: unfinished))))
    }
    #expect(failure?.description == "the message is not complete")
  }

  @Test("leaves out the zeros after the end of a text (RFC 8188 section 2), and refuses zeros without an end")
  func padding() throws {
    // The texts are `{}`, 2 and three zeros, and three zeros, encrypted for this receiver with the same keys.
    let header =
      "z-J8R6u1R2G_xHkJqAxCtAAAEABBBMRc_YGNXujA1KWLrvsl-VdJs1qnrEZmAMcHqwNxwLH7_fd6rYN4U5Urd5_BYSHkQs0KHHnP_kHgLfitju19Vc"
    let padded = try #require([UInt8](base64URL: header + "meReh0T2urVEVyvJ8sy9NdcIaNDuC2"))
    #expect(try receiver().decrypt(Data(padded)) == Data("{}".utf8))
    let zeros = try #require([UInt8](base64URL: header + "nlOOofSiz0r38XPUtqECvskr6I"))
    #expect(throws: WebPushReceiver.Failure.self) { try receiver().decrypt(Data(zeros)) }
  }

  @Test("refuses a message of several records, and one that is too large, whose ends may be missing")
  func sizes() throws {
    let message = try bytes()
    // The record follows the header of 21 bytes and the key of the sender.
    let length = message.count - 86
    for (size, isAccepted) in [(length, true), (length - 1, false)] {
      var changed = message
      changed.replaceSubrange(16..<20, with: [0, 0, UInt8(size >> 8), UInt8(size & 0xff)])
      let text = try? receiver().decrypt(Data(changed))
      #expect((text != nil) == isAccepted, "\(size)")
    }
    for (size, reason) in [
      (4097, "the message has more than 4096 bytes"), (4096, "the public key of the sender is malformed"),
    ] {
      let failure = #expect(throws: WebPushReceiver.Failure.self) {
        try receiver().decrypt(Data(repeating: 65, count: size))
      }
      #expect(failure?.description == reason)
    }
  }

  @Test("has keys of its own, which survive JSON; malformed ones are refused")
  func keys() throws {
    let new = WebPushReceiver()
    #expect([UInt8](base64URL: new.keys.p256dh)?.count == 65 && [UInt8](base64URL: new.keys.auth)?.count == 16)
    #expect(new.keys != WebPushReceiver().keys)
    #expect(try JSONDecoder().decode(WebPushReceiver.self, from: JSONEncoder().encode(new)).keys == new.keys)
    for json in [
      #"{"privateKey":"","auth":""}"#, #"{"privateKey":"\#(String(repeating: "A", count: 43))","auth":"AA"}"#,
      #"{"privateKey":"q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94","auth":"AA"}"#,
    ] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(WebPushReceiver.self, from: Data(json.utf8)) }
    }
  }
}
