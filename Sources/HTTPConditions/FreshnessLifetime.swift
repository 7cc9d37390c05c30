public import Foundation
public import HTTPTypes

/// The time for which a response is fresh in the cache of one user (RFC 9111 section 4.2).
///
///     let fields: HTTPFields = [.cacheControl: "max-age=600", .age: "60"]
///     print(FreshnessLifetime.remainingSeconds(fields, now: Date()) ?? 0)  // 540.0
public enum FreshnessLifetime {
  /// Returns the remaining time in seconds, by `max-age`, or by `Expires` if there is no valid `max-age`, less the `Age`.
  ///
  /// Heuristics do not apply. `s-maxage` is for shared caches and is ignored.
  ///
  /// - Parameters:
  ///   - fields: The header fields of the response.
  ///   - now: The time that applies if the response has no `Date`.
  /// - Returns: 0 or more, finite; nil if the response does not say.
  public static func remainingSeconds(_ fields: HTTPFields, now: Date) -> Double? {
    let directives = directives(fields)
    if directives.contains(where: { ["no-cache", "no-store"].contains($0.name) }) { return 0 }
    let age = fields[.age].flatMap(seconds) ?? 0
    if let maximum = directives.lazy.filter({ $0.name == "max-age" }).compactMap({ $0.value.flatMap(seconds) }).first {
      return max(0, maximum - age)
    }
    guard let expires = fields[.expires].flatMap({ HTTPDate.parse($0, now: now) }) else { return nil }
    let start = fields[.date].flatMap { HTTPDate.parse($0, now: now) } ?? now
    return max(0, expires.timeIntervalSince(start) - age)
  }

  private static func directives(_ fields: HTTPFields) -> [(name: String, value: String?)] {
    fields[values: .cacheControl].flatMap { $0.split(separator: ",") }.map { directive in
      let parts = directive.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      return (parts.first?.lowercased() ?? "", parts.count == 2 ? parts[1] : nil)
    }
  }

  /// Reads a delta-seconds, bare or quoted, clamped to 2^31 (RFC 9111 sections 1.2.2 and 5.2).
  private static func seconds(_ text: String) -> Double? {
    var text = text[...]
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
    guard !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
    return min(Double(text) ?? .infinity, 0x8000_0000)
  }
}
