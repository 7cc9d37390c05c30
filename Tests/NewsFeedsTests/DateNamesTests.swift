import Foundation
import NewsFeeds
import Testing

@Suite("Names in dates")
struct DateNamesTests {
  private static func words(_ text: String) -> [String] { text.split(separator: " ").map { String($0) } }

  @Test("are as many as CLDR has, so that none is lost")
  func counts() {
    let months = DateNames.monthNames.map { Self.words($0).count }
    #expect(months == [384, 379, 294, 334, 271, 321, 347, 346, 353, 343, 339, 363])
    #expect(DateNames.weekdayNames.map { Self.words($0).count } == [412, 422, 423, 450, 426, 400, 419])
    #expect(DateNames.halfNames.map { Self.words($0).count } == [196, 195])
    #expect(Self.words(DateNames.dependentNames).count == 83)
    #expect(Self.words(DateNames.orders).count == 241)
  }

  @Test("mean their month, weekday or half of the day")
  func meanings() {
    for (index, names) in DateNames.monthNames.enumerated() {
      #expect(Self.words(names).filter { DateNames.months($0, language: nil) != [index + 1] } == [])
    }
    for (index, names) in DateNames.weekdayNames.enumerated() {
      #expect(Self.words(names).filter { !DateNames.weekdays($0).contains(index) } == [])
    }
    for (index, names) in DateNames.halfNames.enumerated() {
      #expect(Self.words(names).filter { DateNames.half($0) != index } == [])
    }
  }

  @Test("mean the month of the feed's language, if they are ambiguous")
  func languages() throws {
    for entry in Self.words(DateNames.dependentNames) {
      let parts = entry.split(separator: "=")
      for meaning in parts[1].split(separator: ";") {
        let pair = meaning.split(separator: ":")
        let month = try #require(Int(pair[0]))
        for language in pair[1].split(separator: ",") {
          #expect(DateNames.months(String(parts[0]), language: String(language)) == [month], "\(entry) \(language)")
        }
      }
    }
  }

  @Test("are beside numbers whose order depends on the language and its region")
  func orders() {
    for entry in Self.words(DateNames.orders) {
      let pair = entry.split(separator: "=")
      #expect(DateNames.order(of: String(pair[0])) == pair[1].first, "\(entry)")
    }
    #expect(DateNames.order(of: "fr") == "d")
  }

  private static let zones = """
    UT=0 UTC=0 GMT=0 WET=0 EST=-300 EDT=-240 CST=-360 CDT=-300 MST=-420 MDT=-360 PST=-480 PDT=-420 AKST=-540 AKDT=-480
    HST=-600 AST=-240 ADT=-180 NST=-210 NDT=-150 BRT=-180 BRST=-120 ART=-180 CLT=-240 CLST=-180 COT=-300 PET=-300
    VET=-240 WEST=60 BST=60 CET=60 CEST=120 MET=60 MEST=120 MEZ=60 MESZ=120 EET=120 EEST=180 MSK=180 MSD=240 TRT=180
    SAST=120 WAT=60 CAT=120 EAT=180 GST=240 IST=330 PKT=300 NPT=345 ICT=420 WIB=420 WITA=480 WIT=540 PHT=480 MYT=480
    HKT=480 SGT=480 AWST=480 JST=540 KST=540 ACST=570 ACDT=630 AEST=600 AEDT=660 NZST=720 NZDT=780
    ET=-240 CT=-300 MT=-360 PT=-420
    """
  private static let longZones = """
    Greenwich_Mean=0 Coordinated_Universal=0 Universal=0 British_Summer=60 Western_European=0
    Western_European_Standard=0 Western_European_Summer=60 Central_European=60 Central_European_Standard=60
    Central_European_Summer=120 Eastern_European=120 Eastern_European_Standard=120 Eastern_European_Summer=180
    Moscow_Standard=180 Moscow=180 India_Standard=330 Indian_Standard=330 Pakistan_Standard=300 Nepal=345
    Indochina=420 Western_Indonesia=420 Central_Indonesia=480 Eastern_Indonesia=540 Philippine_Standard=480
    Malaysia=480 Hong_Kong=480 Hong_Kong_Standard=480 Singapore_Standard=480 Singapore=480 Japan_Standard=540
    Korea_Standard=540 Korean_Standard=540 Gulf_Standard=240 South_Africa_Standard=120 West_Africa=60
    West_Africa_Standard=60 Central_Africa=120 East_Africa=180 Brasilia_Standard=-180 Brasilia=-180
    Argentina_Standard=-180 Argentina=-180 Colombia_Standard=-300 Peru_Standard=-300 Venezuela=-240
    Australian_Western_Standard=480 Australian_Central_Standard=570 Australian_Central_Daylight=630
    Australian_Eastern_Standard=600 Australian_Eastern_Daylight=660 New_Zealand_Standard=720 New_Zealand_Daylight=780
    Eastern=-240 Central=-300 Mountain=-360 Pacific=-420 Hawaii-Aleutian_Standard=-600 Hawaii_Standard=-600
    Hawaiian_Standard=-600 Eastern_Standard=-300 Eastern_Daylight=-240 Central_Standard=-360 Central_Daylight=-300
    Mountain_Standard=-420 Mountain_Daylight=-360 Pacific_Standard=-480 Pacific_Daylight=-420 Atlantic_Standard=-240
    Atlantic_Daylight=-180 Newfoundland_Standard=-210 Newfoundland_Daylight=-150 Alaska_Standard=-540
    Alaska_Daylight=-480
    """

  @Test(
    "of zones mean their offset in minutes, abbreviated and in English", arguments: [(zones, ""), (longZones, " Time")])
  func offsets(table: String, end: String) throws {
    for entry in table.split(whereSeparator: \.isWhitespace) {
      let pair = entry.split(separator: "=")
      let name = String(pair[0]).replacing("_", with: " ") + end
      let minutes = try #require(Int(pair[1]))
      #expect(FeedDate.date(from: "20 Aug 2026 13:45 \(name)") == august - Double(minutes) * 60, "\(name)")
    }
  }
}
