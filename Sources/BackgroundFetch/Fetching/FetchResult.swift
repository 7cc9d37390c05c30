/// The result of a fetch. The counterpart of `UIBackgroundFetchResult`.
///
///     func result(inserted: Int) -> FetchResult { inserted > 0 ? .newData : .noData }
///     print(result(inserted: 0))  // noData
public enum FetchResult: String, Sendable, Hashable, Codable, CaseIterable {
  /// The stored data has changed.
  case newData
  /// The fetch has succeeded and the stored data is unchanged.
  case noData
  /// The fetch has failed, so it is unknown whether there is new data.
  case failed
}
