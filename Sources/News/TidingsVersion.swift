/// The version of Tidings, shared by the server, the client and the libraries.
///
///     print("tidings \(TidingsVersion.current)")
public enum TidingsVersion {
  /// Major, minor and patch number (Semantic Versioning 2.0.0), such as `1.4.2`. Between releases it has the suffix
  /// `-dev`.
  public static let current = "0.1.0-dev"
}
