/// The `sub` claim of VAPID tokens: the address at which a push service reaches the operator.
///
/// RFC 8292 section 2.1 allows any `mailto:` or `https:` URI. Apple's service refuses each message whose subject names no
/// host on the internet (403 `BadJwtToken`), while other services accept it, so that only readers with Safari get nothing.
enum VAPIDSubject {
  /// The rule of the setting.
  static let rule = """
    must be an address of the operator such as mailto:news@example.org or https://news.example.org: one plain address with a \
    full host name. Apple's push service refuses localhost, IP addresses and other forms
    """

  /// Whether all push services accept a subject.
  static func isValid(_ subject: String) -> Bool {
    if let host = subject.wholeMatch(of: /mailto:[A-Za-z0-9.!$&'*+\-=_~\/]+@([^@]+)/)?.1 { return isPublic(host) }
    // Path and query have the characters of RFC 3986.
    let link = /https:\/\/([^:\/?]+)(?::[0-9]{1,5})?(?:[\/?][A-Za-z0-9\-._~!$&'()*+,;=:@%\/?]*)?/
    return subject.wholeMatch(of: link).map { isPublic($0.1) } ?? false
  }

  /// Whether a host is a name with a domain: at least two labels (RFC 1123 section 2.1), of which the last begins with a
  /// letter, unlike that of an IP address, and is not reserved for the machine or its network (RFC 6761, RFC 6762).
  private static func isPublic(_ host: Substring) -> Bool {
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    let isNamed = labels.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?/) != nil }
    guard isNamed, labels.count > 1, host.utf8.count <= 253, let last = labels.last?.lowercased() else { return false }
    return last.wholeMatch(of: /[a-z].+/) != nil && !["localhost", "local"].contains(last)
  }
}
