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

  /// A certificate of no other use.
  private static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBdDCCARugAwIBAgIULGQjZNISKUanpM67oYDQh8Kbm9cwCgYIKoZIzj0EAwIw
    EDEOMAwGA1UEAwwFdGVzdHMwHhcNMjYxMTI5MDA1NDEyWhcNMzYxMTI2MDA1NDEy
    WjAQMQ4wDAYDVQQDDAV0ZXN0czBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDm5
    wXnbwXIGi3YY7TM9uOQkxBFt7Mv6tOGmiaVgo1+h9sP/2F5WmVBuBeCxvnjTooDg
    +aYm4Q6aX9cWaW1SwLSjUzBRMB0GA1UdDgQWBBTA2N6JzUqVTYyTPnVrfPsg5q3j
    OjAfBgNVHSMEGDAWgBTA2N6JzUqVTYyTPnVrfPsg5q3jOjAPBgNVHRMBAf8EBTAD
    AQH/MAoGCCqGSM49BAMCA0cAMEQCIAL9dgHxM53Xf74LKgac7/i6lrVgYwVnz9ap
    d/v8yrWbAiAHQ3nBmsqy0qa72Xu2kiiw5MlsWGgRI7/dTB6NQUKn3A==
    -----END CERTIFICATE-----
    """

  @Test("are those of the system and of each trusted file, or those of SSL_CERT_FILE and of each trusted file")
  func files() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "tidings ca-\(UUID().uuidString).pem")
    try Data(Self.certificate.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var (further, other) = (ConnectionOptions(), ConnectionOptions())
    try further.trust(certificatesIn: file)
    try other.useAuthorities(of: ["SSL_CERT_FILE": file.path])
    #expect(Set([ConnectionOptions(), further, other]).count == 3)
    let first = further
    try further.trust(certificatesIn: file)
    #expect(further != first, "a second file replaces no other one")
  }
}
