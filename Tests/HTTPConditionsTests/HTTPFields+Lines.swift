import HTTPTypes

extension HTTPFields {
  /// Field lines as a request has them, such as `If-Match: "a"`; a name may come more than once.
  init(lines: [String]) {
    self.init()
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
        preconditionFailure("no field line: \(line)")
      }
      append(HTTPField(name: name, value: String(parts[1])))
    }
  }
}
