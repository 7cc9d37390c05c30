import Foundation
import HTTPEdge
import Logging
import NetworkAddresses
import News
import NewsStore

/// The type of a setting: the texts that are accepted, and the value of each.
struct SettingType<Value: Sendable>: Sendable {
  /// The accepted texts, as they follow "must be" in messages.
  let rule: String
  /// The accepted texts, as documents show them.
  let values: String
  /// Returns the value of a text that is not empty; nil if the text is not accepted.
  let value: @Sendable (String) -> Value?
  /// Returns the text of a default.
  let text: @Sendable (Value) -> String

  init(
    _ rule: String, values: String? = nil, text: @escaping @Sendable (Value) -> String = { "\($0)" },
    value: @escaping @Sendable (String) -> Value?
  ) {
    self.rule = rule
    self.values = values ?? rule
    self.value = value
    self.text = text
  }
}

extension SettingType where Value == String {
  static func text(_ values: String) -> Self { Self("a text", values: values) { $0 } }

  /// The path of a file or a folder.
  ///
  /// A relative path would name another file in each folder in which a command is started: a server in `/`, where systemd
  /// starts it, and `tidings doctor` where the operator is.
  static var path: Self {
    Self("an absolute path, which begins with /", values: "an absolute path") { $0.hasPrefix("/") ? $0 : nil }
  }

  /// A text for readers.
  static func line(maximumBytes: Int) -> Self {
    Self("one line of at most \(maximumBytes) bytes") { text in
      let isLine = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F ~= $0.value) }
      return isLine && text.utf8.count <= maximumBytes ? text : nil
    }
  }
}

extension SettingType where Value == [String] {
  static func list(of values: String) -> Self {
    Self("\(values), separated by commas", text: { $0.joined(separator: ",") }) { Self.parts($0) }
  }

  fileprivate static func parts(_ text: String) -> [String] {
    text.split { $0 == "," || $0 == " " }.map(String.init)
  }
}

extension SettingType where Value == [IPNetwork] {
  static var networks: Self {
    Self("addresses and networks such as 10.0.0.0/8, separated by commas", text: { _ in "" }) { text in
      let parts = SettingType<[String]>.parts(text)
      let networks = parts.compactMap { IPNetwork($0) }
      return networks.count == parts.count ? networks : nil
    }
  }
}

extension SettingType where Value == Int {
  static func integer(_ range: ClosedRange<Int>, _ unit: String = "") -> Self {
    let numbers = "\(range.lowerBound) to \(range.upperBound)"
    return Self("a whole number from \(numbers)", values: unit.isEmpty ? numbers : "\(numbers) \(unit)") {
      Int($0).flatMap { range ~= $0 ? $0 : nil }
    }
  }
}

extension SettingType where Value == Double {
  static var share: Self {
    Self("a number from 0 to 1 such as 0.01", values: "0 to 1") { text in
      Double(text).flatMap { 0...1 ~= $0 ? $0 : nil }
    }
  }
}

extension SettingType where Value == Bool {
  static var flag: Self {
    Self("true or false", values: "true, false") { $0 == "true" ? true : $0 == "false" ? false : nil }
  }
}

extension SettingType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static var choice: Self {
    let values = Value.allCases.map(\.rawValue).joined(separator: ", ")
    return Self("one of \(values)", values: values, text: \.rawValue) { Value(rawValue: $0) }
  }
}

extension SettingType where Value == String? {
  /// A link without a trailing slash.
  static var link: Self {
    Self("an absolute http or https URL without a query", text: { $0 ?? "" }) { text in
      guard let link = WebLink.normalised(text), !link.contains(where: { "?#".contains($0) }) else { return nil }
      return link.hasSuffix("/") ? String(link.dropLast()) : link
    }
  }

  /// A URL as it is written, with any query.
  static var address: Self {
    Self("an absolute http or https URL", text: { $0 ?? "" }) { text in
      guard let address = WebLink.normalised(text), !address.contains("#") else { return nil }
      return address
    }
  }
}

extension SettingType where Value == FeedPasswordKey? {
  static var key: Self {
    Self("32 bytes in Base64, as `openssl rand -base64 32` prints them", text: { _ in "" }) { text in
      FeedPasswordKey(text).map { .some($0) }
    }
  }
}

extension SettingType where Value == HistoryRetention? {
  /// A time, a number, or both, such as `365d,50`.
  static var retention: Self {
    Self(
      "a time such as 365d, a number of revisions from 1 to 1000000, or both as 365d,50", text: { _ in "" }
    ) { text in
      var (age, count): (Duration?, Int?)
      for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
        if count == nil, let number = Int(part), 1...1_000_000 ~= number {
          count = number
        } else if age == nil, let time = TimeSpan(argument: part)?.duration, time > .zero {
          age = time
        } else {
          return nil
        }
      }
      return .some(HistoryRetention(age: age, count: count ?? 1))
    }
  }
}
