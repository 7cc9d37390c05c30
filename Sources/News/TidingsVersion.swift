/// The version of Tidings, which the server, the client and the libraries share.
///
/// ```swift
/// print("tidings \(TidingsVersion.current)")
/// ```
public enum TidingsVersion {
  /// Major, minor and patch number (Semantic Versioning 2.0.0), such as `1.4.2`; between releases with the suffix `-dev`.
  public static let current = "0.1.0-dev"
}
