import HTTPConditions
import Testing

@Suite("The content of a field value") struct FieldContentTests {
  @Test(
    "is the value without surrounding spaces and tabs (RFC 9110, section 5.5)",
    arguments: [("text/html", "text/html"), (" \ta b\t ", "a b"), ("ä ", "ä"), (" \t", ""), ("", "")])
  func content(value: String, content: String) {
    #expect(value.fieldContent == content)
    #expect(value.prefix(100).fieldContent == content)
  }
}
