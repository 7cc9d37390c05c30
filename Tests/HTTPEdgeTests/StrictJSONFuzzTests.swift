import Foundation
import HTTPEdge
import TestKit
import TestSupport
import Testing

@Suite struct `Strict JSON of random bodies` {
  private static let fragments = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "\\u0000", "\\n", "null", "true", "false",
    "0",
    "1", "-", ".", "e", "+", "9223372036854775807", "1e308", " ", "\n", "a", "é", "😀", "\u{FEFF}", "\"a\":", "\"b\"",
    "{}",
  ].map { Array($0.utf8) }

  private static func body(using generator: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      if Int.random(in: 0..<20, using: &generator) == 0 {
        bytes.append(.random(in: .min ... .max, using: &generator))
      } else {
        bytes += fragments.randomElement(using: &generator) ?? []
      }
    }
    return bytes
  }

  @Test func `Any bytes give a value or an error within them`() async {
    var generator = SplitMix64(seed: 8259)
    var accepted = 0
    for number in 0..<rounds(200_000) {
      // Tests share the threads with servers of other tests, which must answer in time.
      if number % 200 == 0 { await Task.yield() }
      let bytes = Self.body(using: &generator)
      do {
        let value = try JSONValue.parse(bytes)
        accepted += 1
        // Foundation's more lenient parser must accept everything that is accepted here, with the same result.
        let data = Data(bytes)
        let other = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        #expect(other.map { Self.agrees(value, $0) } == true, "\(String(decoding: bytes, as: UTF8.self))")
      } catch {
        #expect((0...bytes.count).contains(error.offset), "\(bytes)")
      }
    }
    #expect(accepted > rounds(1_000))
  }

  private static func agrees(_ value: JSONValue, _ other: Any) -> Bool {
    switch value {
    case .null: other is NSNull
    case .bool(let bool): other as? Bool == bool
    case .integer(let integer): (other as? NSNumber)?.int64Value == Int64(integer)
    // Foundation converts through a decimal number and may miss the nearest double by one unit in the last place.
    case .number(let number): (other as? NSNumber).map { abs($0.doubleValue - number) <= number.ulp } ?? false
    case .string(let string): other as? String == string
    case .array(let elements):
      (other as? [Any]).map { others in
        elements.count == others.count && zip(elements, others).allSatisfy { agrees($0, $1) }
      } ?? false
    case .object(let members):
      (other as? [String: Any]).map { others in
        members.count == others.count
          && members.allSatisfy { key, value in others[key].map { agrees(value, $0) } ?? false }
      } ?? false
    }
  }

  @Test func `A truncated body is rejected as unfinished or not UTF-8`() throws {
    let body = Array(#"{"a":[1.5e1,-2,true,null,"é😀\n\ud83d\ude00"],"b":{"c":false,"d":{}}}"#.utf8)
    _ = try JSONValue.parse(body)
    for length in 1..<body.count {
      let error = #expect(throws: StrictJSONError.self) { try JSONValue.parse(body.prefix(length)) }
      #expect(error?.reason == .unexpectedEnd || error?.reason == .notUTF8 || error?.reason == .loneSurrogate)
      #expect(error?.offset ?? -1 <= length)
    }
  }
}
