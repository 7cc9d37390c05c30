import Foundation
import HTTPTransfer
import Testing

@Suite("The certificate authorities of requests") struct ConnectionOptionsTests {
  @Test("are those of SSL_CERT_FILE, which must have certificates")
  func variable() throws {
    var options = ConnectionOptions()
    try options.useAuthorities(of: [:])
    try options.useAuthorities(of: ["SSL_CERT_FILE": ""])
    #expect(options == ConnectionOptions())
    for path in ["/nonexistent/ca.pem", "/etc/hostname"] {
      let failure = #expect(throws: ConnectionOptions.InvalidCertificates.self) {
        try options.useAuthorities(of: ["SSL_CERT_FILE": path])
      }
      #expect(failure?.description.contains("(SSL_CERT_FILE)") == true)
    }
  }
}
