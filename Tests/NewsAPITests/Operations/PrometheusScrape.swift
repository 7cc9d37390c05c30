import TestSupport

/// A strict parser of Prometheus metrics (text format 0.0.4): anything that Prometheus would reject is an error.
struct PrometheusScrape {
  struct Malformed: Error, CustomStringConvertible {
    let description: String
  }

  struct Sample: Hashable {
    var name: String
    var labels: [String: String]
  }

  private(set) var samples: [Sample: Double] = [:]
  /// The kind of each metric family.
  private(set) var kinds: [String: String] = [:]
  private var described: Set<String> = []

  init(_ text: String) throws {
    guard text.isEmpty || text.hasSuffix("\n") else { throw Malformed(description: "the last line has no end") }
    var family = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if let match = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)/) {
        family = String(match.1)
        guard kinds[family] == nil, described.insert(family).inserted else {
          throw Malformed(description: "\(line): late, or a second time")
        }
      } else if let match = line.wholeMatch(of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)/) {
        family = String(match.1)
        guard kinds.updateValue(String(match.2), forKey: family) == nil else {
          throw Malformed(description: "\(line): a second time")
        }
      } else {
        try add(line, family)
      }
    }
    try checkHistograms()
  }

  private mutating func add(_ line: Substring, _ family: String) throws {
    let syntax = /([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)/
    guard let match = line.wholeMatch(of: syntax), let value = Double(match.3.replacing("+Inf", with: "inf")) else {
      throw Malformed(description: "\(line): is no sample")
    }
    let suffixes = kinds[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
    guard suffixes.contains(where: { match.1 == family + $0 }) else {
      throw Malformed(description: "\(line): is not of the family \(family)")
    }
    let sample = Sample(name: String(match.1), labels: try Self.labels(match.2 ?? ""))
    guard samples.updateValue(value, forKey: sample) == nil else {
      throw Malformed(description: "\(line): a second time")
    }
  }

  private static func labels(_ text: Substring) throws -> [String: String] {
    var labels: [String: String] = [:]
    var rest = text
    while !rest.isEmpty {
      guard let match = rest.prefixMatch(of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/) else {
        throw Malformed(description: "\(text): are no labels")
      }
      let value = match.2.replacing(/\\(.)/) { $0.1 == "n" ? "\n" : $0.1 }
      guard labels.updateValue(String(value), forKey: String(match.1)) == nil else {
        throw Malformed(description: "\(text): a label twice")
      }
      rest = rest[match.range.upperBound...]
    }
    return labels
  }

  /// Checks that the counts of buckets grow with their bounds, and that the last bucket contains all observations.
  private func checkHistograms() throws {
    for (family, kind) in kinds where kind == "histogram" {
      for (sample, count) in samples where sample.name == family + "_count" {
        let buckets = samples.filter { other, _ in
          other.name == family + "_bucket" && other.labels.filter { $0.key != "le" } == sample.labels
        }
        let counts = buckets.sorted { Self.bound($0.key) < Self.bound($1.key) }.map(\.value)
        guard counts == counts.sorted(), counts.last == count,
          buckets.keys.contains(where: { Self.bound($0) == .infinity })
        else { throw Malformed(description: "\(sample): \(counts)") }
      }
    }
  }

  private static func bound(_ sample: Sample) -> Double {
    Double((sample.labels["le"] ?? "").replacing("+Inf", with: "inf")) ?? .nan
  }

  /// Returns the value of a sample; 0 if it does not exist yet.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double {
    samples[Sample(name: name, labels: labels)] ?? 0
  }

  /// Returns all values of a label.
  func values(of label: String) -> Set<String> { Set(samples.keys.compactMap { $0.labels[label] }) }
}

extension TestServer {
  func scrape() async throws -> PrometheusScrape { try PrometheusScrape(try await get("/metrics").text) }
}
