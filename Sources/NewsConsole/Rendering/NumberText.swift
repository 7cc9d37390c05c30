package import NewsPages

/// Numbers as people read them, in the language of the pages.
package struct NumberText {
  private let decimalSign: String
  private let groupSign: String

  package init(_ texts: TextCatalogue) {
    decimalSign = texts.text("decimal-sign")
    groupSign = texts.text("group-sign")
  }

  /// Returns a whole number with separated groups of three digits.
  package func whole(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += groupSign }
      text.append(digit)
    }
    return text
  }

  /// Returns a number of 0 or more: with one decimal below 100, otherwise without.
  package func short(_ number: Double) -> String {
    guard number.isFinite, number < 1e15 else { return "–" }
    let tenths = Int((max(0, number) * 10).rounded())
    guard tenths < 1000, tenths % 10 != 0 else { return whole(Int(max(0, number).rounded())) }
    return "\(tenths / 10)\(decimalSign)\(tenths % 10)"
  }

  /// Returns a number of bytes of 0 or more in a decimal unit, such as `1.2 MB`.
  package func bytes(_ count: Double) -> String {
    var (count, unit) = (count, "B")
    for next in ["kB", "MB", "GB", "TB", "PB"] where count >= 999.5 {
      count /= 1000
      unit = next
    }
    return "\(short(count)) \(unit)"
  }

  /// Returns a share in percent; a dash if there is nothing to share.
  package func percent(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "–" }
    // All but a few are not all.
    let percent = Double(part) * 100 / Double(whole)
    return "\(short(part < whole ? min(percent, 99.9) : 100)) %"
  }

  /// Returns a time of 0 seconds or more in seconds, minutes or hours.
  package func duration(_ seconds: Double) -> String {
    switch seconds {
    case ..<120: "\(whole(Int(seconds))) s"
    case ..<7200: "\(whole(Int(seconds / 60))) min"
    default: "\(whole(Int(min(seconds, 1e12) / 3600))) h"
    }
  }

  /// Returns a time in milliseconds.
  package func milliseconds(_ time: Duration) -> String { "\(short(time / .milliseconds(1))) ms" }
}
