import HTTPConditions
import HTTPTypes
import Testing

@Suite struct `Cache-Control (RFC 9111 section 5.2.2, RFC 5861)` {
  struct Row: Sendable, CustomTestStringConvertible {
    var sentence: String
    var cacheControl: CacheControl
    var value: String
    var testDescription: String { "\(value): \(sentence)" }

    init(_ sentence: String, _ cacheControl: CacheControl, _ value: String) {
      self.sentence = sentence
      self.cacheControl = cacheControl
      self.value = value
    }
  }

  @Test(arguments: [
    Row("no directives: an empty value", CacheControl(), ""),
    Row("'max-age=5' not 'max-age=\"5\"'", CacheControl(maxAge: 5), "max-age=5"),
    Row("'s-maxage=10' not 's-maxage=\"10\"'", CacheControl(sMaxAge: 10), "s-maxage=10"),
    Row("for a shared cache, s-maxage overrides max-age", CacheControl(maxAge: 0, sMaxAge: 1), "max-age=0, s-maxage=1"),
    Row("a cache MUST NOT store", CacheControl(noStore: true), "no-store"),
    Row("intended for a single user", CacheControl(isPrivate: true, noStore: true), "private, no-store"),
    Row("MUST NOT be used without forwarding it for validation", CacheControl(noCache: true), "no-cache"),
    Row(
      "once stale, MUST NOT be reused", CacheControl(maxAge: 60, mustRevalidate: true), "max-age=60, must-revalidate"),
    Row("RFC 8246", CacheControl(maxAge: 31_536_000, immutable: true), "max-age=31536000, immutable"),
    Row(
      "example of RFC 5861 section 3.1", CacheControl(maxAge: 600, staleWhileRevalidate: 30),
      "max-age=600, stale-while-revalidate=30"),
    Row(
      "example of RFC 5861 section 4.1", CacheControl(maxAge: 600, staleIfError: 1200),
      "max-age=600, stale-if-error=1200"),
    Row(
      "public reads", CacheControl(maxAge: 0, sMaxAge: 2, staleWhileRevalidate: 8, staleIfError: 60),
      "max-age=0, s-maxage=2, stale-while-revalidate=8, stale-if-error=60"),
    Row("a non-negative integer", CacheControl(maxAge: -1, sMaxAge: .min), "max-age=0, s-maxage=0"),
    Row("2147483648 (2^31)", CacheControl(maxAge: 1 << 31, sMaxAge: .max), "max-age=2147483648, s-maxage=2147483648"),
    Row(
      "all of them",
      CacheControl(
        isPrivate: true, noStore: true, noCache: true, maxAge: 1, sMaxAge: 2, mustRevalidate: true, immutable: true,
        staleWhileRevalidate: 3, staleIfError: 4),
      "private, no-store, no-cache, max-age=1, s-maxage=2, must-revalidate, immutable, stale-while-revalidate=3, "
        + "stale-if-error=4"),
  ])
  func `Directives are written in their order, durations as bare seconds`(_ row: Row) {
    #expect(row.cacheControl.fieldValue == row.value)
  }
}

@Suite struct `Vary (RFC 9110 section 12.5.5)` {
  @Test func `Field names are listed in the order of insertion`() {
    var vary = Vary(.acceptEncoding)
    #expect(vary.fieldValue == "Accept-Encoding")
    vary.insert(.origin)
    #expect(vary.fieldValue == "Accept-Encoding, Origin")
  }

  @Test func `A name counts once, whatever its case`() throws {
    var vary = Vary(.acceptEncoding, .origin, .acceptEncoding)
    vary.insert(try #require(HTTPField.Name("ACCEPT-encoding")))
    #expect(vary.names == [.acceptEncoding, .origin])
    #expect(vary.fieldValue == "Accept-Encoding, Origin")
  }

  @Test func `Without names the value is empty`() {
    #expect(Vary().fieldValue.isEmpty)
  }
}
