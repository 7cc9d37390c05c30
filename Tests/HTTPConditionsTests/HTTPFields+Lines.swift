import HTTPTypes

extension HTTPFields {
  /// Creates fields from the lines of a request, such as `If-Match: "a"`; names may repeat.
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
