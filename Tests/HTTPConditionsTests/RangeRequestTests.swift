import HTTPConditions
import HTTPTypes
import Testing

@Suite struct `Byte ranges (RFC 9110 sections 14.1 to 14.4)` {
  struct Row: Sendable, CustomTestStringConvertible {
    var sentence: String
    var value: String
    var length: Int
    var request: RangeRequest
    var testDescription: String { "\(value) of \(length): \(sentence)" }

    init(_ sentence: String, _ value: String, of length: Int, _ request: RangeRequest) {
      self.sentence = sentence
      self.value = value
      self.length = length
      self.request = request
    }
  }

  @Test(arguments: [
    Row("the first 500 bytes", "bytes=0-499", of: 10000, .ranges([0..<500])),
    Row("the second 500 bytes", "bytes=500-999", of: 10000, .ranges([500..<1000])),
    Row("the final 500 bytes", "bytes=-500", of: 10000, .ranges([9500..<10000])),
    Row("the final 500 bytes", "bytes=9500-", of: 10000, .ranges([9500..<10000])),
    Row("the first and last bytes only", "bytes=0-0,-1", of: 10000, .ranges([0..<1, 9999..<10000])),
    Row(
      "the first, middle, and last 1000 bytes", "bytes= 0-999, 4500-5499, -1000", of: 10000,
      .ranges([0..<1000, 4500..<5500, 9000..<10000])),
    Row("other valid specifications", "bytes=500-600,601-999", of: 10000, .ranges([500..<601, 601..<1000])),
    Row("other valid specifications", "bytes=500-700,601-999", of: 10000, .ranges([500..<701, 601..<1000])),
    Row("the remainder, if last-pos is absent", "bytes=3-", of: 10, .ranges([3..<10])),
    Row("the remainder, if greater than or equal to the length", "bytes=3-10", of: 10, .ranges([3..<10])),
    Row("the remainder, if greater than or equal to the length", "bytes=3-9", of: 10, .ranges([3..<10])),
    Row("shorter than the suffix-length: the entire representation", "bytes=-11", of: 10, .ranges([0..<10])),
    Row("the order of the request", "bytes=5-6, 1-2", of: 10, .ranges([5..<7, 1..<3])),
    Row("range unit names are case-insensitive", "BYTES=0-1", of: 10, .ranges([0..<2])),
    Row("1#range-spec: empty list elements", "bytes=,0-1 ,\t, 3-4,", of: 10, .ranges([0..<2, 3..<5])),
    Row("1*DIGIT: leading zeros", "bytes=0000000000000000000000001-0002", of: 10, .ranges([1..<3])),
    Row("potentially large decimal numerals", "bytes=3-99999999999999999999", of: 10, .ranges([3..<10])),
    Row("potentially large decimal numerals", "bytes=-99999999999999999999", of: 10, .ranges([0..<10])),
    Row("potentially large decimal numerals", "bytes=3-9223372036854775807", of: 10, .ranges([3..<10])),
    Row(
      "potentially large representations", "bytes=0-9223372036854775806", of: .max, .ranges([0..<Int.max])),
    Row("satisfiable if at least one range-spec is", "bytes=20-30, 5-6", of: 10, .ranges([5..<7])),
    Row("satisfiable if at least one range-spec is", "bytes=-0, 5-6", of: 10, .ranges([5..<7])),
    Row("whitespace around a field value is no part of it", " bytes=0-1\t", of: 10, .ranges([0..<2])),
    Row("up to two may overlap", "bytes=0-5,3-8", of: 10, .ranges([0..<6, 3..<9])),
    Row("what only touches does not overlap", "bytes=0-1,2-3,4-5,6-7", of: 10, .ranges([0..<2, 2..<4, 4..<6, 6..<8])),
  ])
  func `Satisfiable ranges are returned as offsets`(_ row: Row) {
    #expect(RangeRequest(fieldValue: row.value, length: row.length) == row.request)
  }

  @Test(arguments: [
    Row("first-pos less than the current length", "bytes=10-", of: 10, .unsatisfiable),
    Row("first-pos less than the current length", "bytes=10-20", of: 10, .unsatisfiable),
    Row("a suffix-range with a non-zero suffix-length", "bytes=-0", of: 10, .unsatisfiable),
    Row("potentially large decimal numerals", "bytes=99999999999999999999-", of: 10, .unsatisfiable),
    Row("potentially large decimal numerals", "bytes=9223372036854775807-", of: .max, .unsatisfiable),
    Row("potentially large decimal numerals", "bytes=9223372036854775808-9223372036854775809", of: 10, .unsatisfiable),
    Row("otherwise, the ranges-specifier is unsatisfiable", "bytes=10-, 11-12, -0", of: 10, .unsatisfiable),
    Row("zero length: only a suffix-range is satisfiable", "bytes=0-", of: 0, .unsatisfiable),
    Row("zero length: only a suffix-range is satisfiable", "bytes=0-0", of: 0, .unsatisfiable),
    Row("zero length: with a non-zero suffix-length", "bytes=-0", of: 0, .unsatisfiable),
  ])
  func `A valid request without a satisfiable range is answered with 416`(_ row: Row) {
    #expect(RangeRequest(fieldValue: row.value, length: row.length) == row.request)
  }

  @Test(arguments: [
    Row("MUST ignore a range unit it does not understand", "items=0-1", of: 10, .ignored),
    Row("MUST ignore a range unit it does not understand", "byte=0-1", of: 10, .ignored),
    Row("ranges-specifier = range-unit \"=\" range-set", "0-1", of: 10, .ignored),
    Row("ranges-specifier = range-unit \"=\" range-set", "bytes 0-1", of: 10, .ignored),
    Row("ranges-specifier = range-unit \"=\" range-set", "bytes =0-1", of: 10, .ignored),
    Row("1#range-spec: at least one", "bytes=", of: 10, .ignored),
    Row("1#range-spec: at least one", "bytes=, ,", of: 10, .ignored),
    Row("not empty", "", of: 10, .ignored),
    Row("invalid if last-pos is less than first-pos", "bytes=3-2", of: 10, .ignored),
    Row("invalid if last-pos is less than first-pos", "bytes=30-20", of: 10, .ignored),
    Row("invalid, however large", "bytes=99999999999999999999-99999999999999999998", of: 10, .ignored),
    Row("invalid, however large", "bytes=99999999999999999999-9999999999999999999", of: 10, .ignored),
    Row("invalid if it contains any range-spec that is invalid", "bytes=0-1,3-2", of: 10, .ignored),
    Row("byte ranges do not use the other-range specifier", "bytes=all", of: 10, .ignored),
    Row("byte ranges do not use the other-range specifier", "bytes=0-1,*", of: 10, .ignored),
    Row("1*DIGIT", "bytes=-", of: 10, .ignored),
    Row("1*DIGIT", "bytes=0x1-2", of: 10, .ignored),
    Row("1*DIGIT", "bytes=+1-2", of: 10, .ignored),
    Row("1*DIGIT", "bytes=1.0-2", of: 10, .ignored),
    Row("1*DIGIT", "bytes=１-2", of: 10, .ignored),
    Row("int-range has no whitespace", "bytes=0 - 1", of: 10, .ignored),
    Row("int-range has no whitespace", "bytes=0- 1", of: 10, .ignored),
    Row("suffix-range has no whitespace", "bytes=- 1", of: 10, .ignored),
    Row("no negative number", "bytes=--1", of: 10, .ignored),
    Row("no negative number", "bytes=-1-2", of: 10, .ignored),
    Row("a comma between them", "bytes=0-1 2-3", of: 10, .ignored),
    Row("a comma between them", "bytes=0-1;2-3", of: 10, .ignored),
    Row("MAY ignore more than two overlapping ranges", "bytes=0-5,1-6,2-7", of: 10, .ignored),
    Row("MAY ignore more than two overlapping ranges", "bytes=0-,0-,0-", of: 10, .ignored),
    Row("MAY ignore more than two overlapping ranges", "bytes=0-1,1-2,5-6,6-7", of: 10, .ignored),
    Row("MAY ignore many ranges", "bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8", of: 10, .ignored),
    Row("MAY ignore Range when the representation has no content", "bytes=-1", of: 0, .ignored),
    Row("MAY ignore Range when the representation has no content", "bytes=0-,-1", of: 0, .ignored),
  ])
  func `Anything else is answered with the whole representation`(_ row: Row) {
    #expect(RangeRequest(fieldValue: row.value, length: row.length) == row.request)
  }

  @Test func `More ranges than the maximum are ignored`() {
    let value = "bytes=0-0,2-2,4-4"
    #expect(RangeRequest(fieldValue: value, length: 9, maximumRanges: 3) == .ranges([0..<1, 2..<3, 4..<5]))
    #expect(RangeRequest(fieldValue: value, length: 9, maximumRanges: 2) == .ignored)
  }

  @Test(arguments: [HTTPRequest.Method.head, .put, .post, .delete, .options])
  func `GET is the only method for which range handling is defined`(_ method: HTTPRequest.Method) {
    let fields = HTTPFields(lines: ["Range: bytes=0-1"])
    #expect(RangeRequest(fields: fields, method: .get, length: 10) == .ranges([0..<2]))
    #expect(RangeRequest(fields: fields, method: method, length: 10) == .ignored)
  }

  @Test func `A request without Range, or with two, is answered with the whole representation`() {
    #expect(RangeRequest(fields: [:], method: .get, length: 10) == .ignored)
    let twice = HTTPFields(lines: ["Range: bytes=0-1", "Range: bytes=0-1"])
    #expect(RangeRequest(fields: twice, method: .get, length: 10) == .ignored)
  }

  @Test(arguments: [
    (0..<500, "bytes 0-499/1234"), (500..<1000, "bytes 500-999/1234"), (500..<1234, "bytes 500-1233/1234"),
    (734..<1234, "bytes 734-1233/1234"), (42..<1234, "bytes 42-1233/1234"), (0..<1, "bytes 0-0/1234"),
  ])
  func `Content-Range of a 206 names the last byte and the whole length`(_ range: Range<Int>, _ value: String) {
    #expect(ContentRange.satisfied(range, length: 1234) == value)
  }

  @Test func `Content-Range of a 416 names the length alone`() {
    #expect(ContentRange.unsatisfiable(length: 1234) == "bytes */1234")
    #expect(ContentRange.unsatisfiable(length: 0) == "bytes */0")
  }

  @Test func `Content-Range of an empty or impossible range traps`() async {
    await #expect(processExitsWith: .failure) { _ = ContentRange.satisfied(3..<3, length: 10) }
    await #expect(processExitsWith: .failure) { _ = ContentRange.satisfied(3..<11, length: 10) }
  }
}
