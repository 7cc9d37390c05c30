import Foundation
import HTTPConditions
import HTTPTypes
import Testing

@Suite struct FreshnessLifetimeTests {
  private static func seconds(_ fields: HTTPFields) -> Double? {
    FreshnessLifetime.remainingSeconds(fields, now: Date(timeIntervalSince1970: 784_111_777))
  }

  @Test(
    "The directive max-age applies, less the age",
    arguments: [
      ("max-age=600", nil, 600), ("public, MAX-AGE=\"600\", immutable", "60", 540), ("max-age=10", "60", 0),
      ("s-maxage=5, max-age=600", nil, 600), ("max-age=99999999999999999999", nil, 2_147_483_648),
      ("max-age=600, no-cache", nil, 0), ("no-store", nil, 0), ("max-age=600", "-1", 600), ("max-age=600", "x", 600),
    ] as [(String, String?, Double)])
  func maximumAge(control: String, age: String?, expected: Double) {
    var fields: HTTPFields = [.cacheControl: control]
    fields[.age] = age
    #expect(Self.seconds(fields) == expected)
  }

  @Test("Other responses do not say", arguments: ["", "public", "max-age", "max-age=", "max-age=1.5", "max-age=-1"])
  func unknown(control: String) {
    #expect(Self.seconds([.cacheControl: control]) == nil)
    #expect(Self.seconds([:]) == nil)
    #expect(Self.seconds([.expires: "0"]) == nil)
  }

  @Test("Expires applies without max-age, relative to the clock of the server")
  func expires() {
    var fields: HTTPFields = [.expires: "Sun, 06 Nov 1994 08:59:37 GMT"]
    #expect(Self.seconds(fields) == 600)
    fields[.date] = "Sun, 06 Nov 1994 08:58:37 GMT"
    #expect(Self.seconds(fields) == 60)
    fields[.age] = "10"
    #expect(Self.seconds(fields) == 50)
    fields[.cacheControl] = "max-age=5"
    #expect(Self.seconds(fields) == 0)
  }
}
