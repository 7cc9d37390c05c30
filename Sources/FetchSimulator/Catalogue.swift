public import Foundation

/// The available personas, newsrooms and policies.
///
///     let catalogue = try Catalogue.shipped()
///     print(catalogue.personas.map(\.name), catalogue.newsrooms.map(\.name), catalogue.policies.map(\.name))
public struct Catalogue: Sendable, Hashable {
  /// The error if a file of a catalogue cannot be read.
  ///
  ///     do {
  ///       print(try Catalogue(folder: folder).personas.count)
  ///     } catch let error as Catalogue.ReadError {
  ///       print("\(error.file) is not valid: \(error.reason)")
  ///     }
  public struct ReadError: Error, Sendable, CustomStringConvertible {
    /// The path or the name of the file.
    public let file: String
    /// The reason why it cannot be read.
    public let reason: String

    /// A message with the file and the reason.
    public var description: String { "\(file): \(reason)" }
  }

  /// The personas, sorted by name.
  public let personas: [Persona]
  /// The newsrooms, sorted by name.
  public let newsrooms: [Newsroom]
  /// The policies, sorted by name. Policies of the kind `scheduler` come first.
  public let policies: [Policy]

  private typealias File = (name: String, data: Data)

  /// The shipped files of each folder.
  private static let shippedFiles: [String: [File]] = [
    "Personas": [
      ("commuter", PackageResources.commuter_json), ("night-owl", PackageResources.night_owl_json),
      ("one-pm-reader", PackageResources.one_pm_reader_json), ("random", PackageResources.random_json),
      ("weekend-reader", PackageResources.weekend_reader_json),
    ],
    "Newsrooms": [
      ("breaking-day", PackageResources.breaking_day_json),
      ("hourly-bulletin", PackageResources.hourly_bulletin_json),
      ("office-hours", PackageResources.office_hours_json),
    ],
    "Policies": [
      ("exponential", PackageResources.exponential_json), ("fixed", PackageResources.fixed_json),
      ("fixed-jitter", PackageResources.fixed_jitter_json), ("scheduler", PackageResources.scheduler_json),
    ],
  ].mapValues { $0.map { ($0.0 + ".json", Data($0.1)) } }

  /// Returns the shipped catalogue. It is part of the executable, which therefore works without resource files.
  ///
  /// - Throws: ``ReadError`` if a shipped file cannot be read.
  public static func shipped() throws -> Catalogue { try Catalogue { _ in nil } }

  /// Reads the files `*.json` of the folders `Personas`, `Newsrooms` and `Policies`.
  ///
  /// - Parameter folder: The parent of the three folders. The shipped files replace a missing folder.
  /// - Throws: ``ReadError`` for a file that cannot be read.
  public init(folder: URL) throws {
    try self.init { name in
      let directory = folder.appending(path: name, directoryHint: .isDirectory)
      let urls = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
      return try urls?.filter { $0.pathExtension == "json" }.map { url in
        guard let data = try? Data(contentsOf: url) else { throw ReadError(file: url.path, reason: "cannot be read") }
        return (url.lastPathComponent, data)
      }
    }
  }

  /// - Parameter files: Returns the files of a folder; nil for the shipped ones.
  private init(files: (String) throws -> [File]?) throws {
    func values<Value: Decodable>(_ folder: String) throws -> [Value] {
      try (try files(folder) ?? Self.shippedFiles[folder] ?? []).map { file in
        do {
          return try JSONDecoder().decode(Value.self, from: file.data)
        } catch {
          throw ReadError(file: file.name, reason: Self.reason(for: error))
        }
      }
    }
    personas = try values("Personas").sorted { $0.name < $1.name }
    newsrooms = try values("Newsrooms").sorted { $0.name < $1.name }
    policies = try values("Policies").sorted {
      ($0.kind == .scheduler ? 0 : 1, $0.name) < ($1.kind == .scheduler ? 0 : 1, $1.name)
    }
  }

  /// Returns the reason of a decoding error: the invalid field, and the problem.
  private static func reason(for error: any Error) -> String {
    let (path, problem): ([any CodingKey], String) =
      switch error {
      case DecodingError.keyNotFound(let key, let context): (context.codingPath + [key], "the field is missing")
      case DecodingError.valueNotFound(_, let context): (context.codingPath, "null is not allowed")
      case DecodingError.typeMismatch(_, let context): (context.codingPath, "the value has the wrong type")
      case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty: ([], "the file is not valid JSON")
      case DecodingError.dataCorrupted(let context): (context.codingPath, context.debugDescription)
      default: ([], "cannot be read")
      }
    let names = path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }
    return names.isEmpty ? problem : "\(names.joined(separator: ".")): \(problem)"
  }
}
