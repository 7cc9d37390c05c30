/// What a fetch has come to.
public enum FetchResult: String, Sendable, Hashable, Codable, CaseIterable {
  /// What is stored has changed.
  case newData
  /// All went well and what is stored is as it was.
  case noData
  /// It is not known whether there is anything new.
  case failed
}
