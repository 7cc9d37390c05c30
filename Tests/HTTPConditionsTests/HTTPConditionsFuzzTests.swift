import Foundation
import HTTPConditions
import HTTPTypes
import TestKit
import Testing

/// Field values made of fragments that parsers recognise, with arbitrary bytes among them.
@Suite struct `Field values of any bytes` {
  private static let tagFragments = [
    "\"a\"", "W/\"a\"", "\"a-gz\"", "\"b\"", "*", ", ", ",", "\"", "W/", "w/", "a", "-gz\"", " ", "\t", "é", "\u{0}",
  ]
  private static let dateFragments = [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun", "day",
    ", 06 ",
    "Nov", "-94 ", "08:49:37", "23:59:60", " GMT", "9999", "0000", ", ", " ",
  ]
  private static let rangeFragments = [
    "0", "-", "0-", "-5", "1-3", "2-", ",", ", ", "9223372036854775807", "18446744073709551616", "00", "=", "bytes=",
    "*",
  ]
  private static let codingFragments = [
    "gzip", "x-gzip", "identity", "identity;q=0", "*;q=0", "br", "*", ",", ", ", ";", "q=", ";q=0", ";q=0.5",
    ";q=0.999", "1.000", ".", " ",
  ]

  private static func value(of fragments: [String], using generator: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    let count = Int.random(in: 0...7, using: &generator)
    for _ in 0..<(count > 4 ? 1 : count) {
      switch Int.random(in: 0..<20, using: &generator) {
      case 0:
        bytes.append(.random(in: .min ... .max, using: &generator))
      case 1 where !bytes.isEmpty:
        // A date or tag with one wrong byte.
        bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0x20...0x7E, using: &generator)
      default:
        bytes += (fragments.randomElement(using: &generator) ?? "").utf8
      }
    }
    return bytes
  }

  private static let validators = [
    nil, Validators(), Validators(entityTag: EntityTag(strong: "a")), Validators(entityTag: EntityTag(weak: "a")),
    Validators(lastModified: Date(timeIntervalSince1970: 784_111_777)),
    Validators(
      entityTag: EntityTag(strong: "a").variant(.gzip), lastModified: Date(timeIntervalSince1970: 784_111_777),
      isLastModifiedStrong: true),
  ]

  @Test func `Parsed tags and dates are the same after formatting and parsing again`() {
    var generator = SplitMix64(seed: 9110)
    var (tags, dates) = (0, 0)
    for _ in 0..<rounds(200_000) {
      let fragments = Bool.random(using: &generator) ? Self.tagFragments : Self.dateFragments
      let text = String(decoding: Self.value(of: fragments, using: &generator), as: UTF8.self)
      if let tag = EntityTag(fieldValue: text) {
        tags += 1
        #expect(EntityTag(fieldValue: tag.fieldValue) == tag)
        #expect(tag.weaklyMatches(tag.variant(.gzip)))
        #expect(tag.stronglyMatches(tag) == !tag.isWeak)
      }
      if let date = HTTPDate.parse(text) {
        dates += 1
        #expect(HTTPDate.parse(HTTPDate.format(date)) == date)
      }
    }
    #expect(tags > rounds(10_000) && dates > rounds(5_000), "\(tags), \(dates)")
  }

  @Test func `Only GET and HEAD of an existing representation are answered with 304`() {
    var generator = SplitMix64(seed: 304)
    let conditions: [(HTTPField.Name, [String])] = [
      (.ifMatch, Self.tagFragments), (.ifNoneMatch, Self.tagFragments), (.ifModifiedSince, Self.dateFragments),
      (.ifUnmodifiedSince, Self.dateFragments), (.ifRange, Self.tagFragments + Self.dateFragments),
    ]
    let methods = [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete, .options, .trace, .connect]
    var results: [PreconditionResult: Int] = [:]
    for _ in 0..<rounds(200_000) {
      var fields = HTTPFields()
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let (name, fragments) = conditions[Int.random(in: 0..<conditions.count, using: &generator)]
        fields.append(HTTPField(name: name, value: Self.value(of: fragments, using: &generator)))
      }
      let method = methods[Int.random(in: 0..<methods.count, using: &generator)]
      let current = Self.validators[Int.random(in: 0..<Self.validators.count, using: &generator)]
      let preconditions = Preconditions(fields: fields)
      let result = preconditions.evaluate(method: method, current: current)
      results[result, default: 0] += 1
      if result == .notModified {
        #expect(method == .get || method == .head)
        #expect(current != nil)
      }
      if [.options, .trace, .connect].contains(method) { #expect(result == .proceed) }
      // The guard of a write must not be weaker than the parsed list of tags.
      if method == .put, let current, let list = EntityTagList(fields: fields, name: .ifMatch) {
        switch list {
        case .any: break
        case .tags(let tags):
          let matches = tags.contains { tag in current.entityTag.map(tag.stronglyMatches) ?? false }
          if !matches { #expect(result == .failed) }
        }
      }
      if let current, fields[.ifRange] == nil { #expect(preconditions.rangeApplies(current: current)) }
    }
    #expect(results.values.allSatisfy { $0 > rounds(1_000) } && results.count == 3, "\(results)")
  }

  @Test func `Ranges are never empty and lie within the representation`() {
    var generator = SplitMix64(seed: 206)
    var satisfied = 0
    for _ in 0..<rounds(200_000) {
      let bytes = Array("bytes=".utf8) + Self.value(of: Self.rangeFragments, using: &generator)
      let length = [0, 1, 5, 1000, Int.max][Int.random(in: 0..<5, using: &generator)]
      var fields = HTTPFields()
      fields.append(HTTPField(name: .range, value: bytes))
      let request = RangeRequest(fields: fields, method: .get, length: length)
      guard case .ranges(let ranges) = request else { continue }
      satisfied += 1
      #expect((1...8).contains(ranges.count))
      for range in ranges {
        #expect(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= length)
        let value = ContentRange.satisfied(range, length: length)
        #expect(value == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)")
      }
    }
    #expect(satisfied > rounds(10_000), "\(satisfied)")
  }

  @Test func `A coding is chosen among those offered`() {
    var generator = SplitMix64(seed: 7932)
    var chosen: [ContentCoding?: Int] = [:]
    for _ in 0..<rounds(200_000) {
      var fields = HTTPFields()
      fields.append(HTTPField(name: .acceptEncoding, value: Self.value(of: Self.codingFragments, using: &generator)))
      let accepted = AcceptEncoding(fields: fields)
      let coding = accepted.preferredCoding(among: [.gzip, .identity])
      chosen[coding, default: 0] += 1
      // A single coding must not be accepted if it is refused among all codings, and vice versa.
      if coding == nil {
        #expect(accepted.preferredCoding(among: [.gzip]) == nil && accepted.preferredCoding(among: [.identity]) == nil)
      } else if let coding {
        #expect(accepted.preferredCoding(among: [coding]) == coding)
      }
    }
    #expect(chosen.count == 3 && chosen.values.allSatisfy { $0 > rounds(1_000) }, "\(chosen)")
  }
}
