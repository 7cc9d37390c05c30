/// The output of `scripts/bench-delivery`: the processor time of messages.
struct DeliveryBenchOutput {
  private let file: String
  private let lines: [Substring]

  /// - Throws: ``Prices/ReadError``
  init(_ text: String, file: String) throws {
    self.file = file
    lines = text.split(separator: "\n")
  }

  /// Returns the processor time of a message in seconds.
  ///
  /// - Parameter service: The name of the service in the output: `apns`, `fcm` or `webpush`.
  /// - Throws: ``Prices/ReadError`` if a line is missing or has another form.
  func costs(of service: String) throws -> [Tier: Double] {
    [
      .server: try number(in: "\(service): processor time bare", after: "ours"),
      .database: try number(in: "\(service): processor time of PostgreSQL for a message", after: "message"),
    ]
  }

  /// Returns the number of microseconds that follows a word of a line.
  private func number(in beginning: String, after word: String) throws -> Double {
    guard let index = lines.firstIndex(where: { $0.hasPrefix(beginning) }) else {
      throw Prices.ReadError(description: "\(file): the line '\(beginning) …' is missing")
    }
    let fields = lines[index].split(separator: " ")
    guard let position = fields.firstIndex(of: word[...]), position + 1 < fields.count,
      let number = Double(fields[position + 1]), number > 0, number.isFinite
    else {
      throw Prices.ReadError(
        description: "\(file): the line '\(beginning) …' has no number of microseconds after '\(word)'")
    }
    return number / 1e6
  }
}
