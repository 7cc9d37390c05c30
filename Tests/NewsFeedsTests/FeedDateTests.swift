import Foundation
import News
import NewsFeeds
import Testing

@Suite("Dates of feeds")
struct FeedDateTests {
  @Test(
    "are read in the forms that publishers use",
    arguments: [
      "2026-08-20T13:45:00Z", "2026-08-20T13:45:00.000+00:00", "2026-08-20T15:45:00+02:00", "2026-08-20t13:45:00z",
      "2026-08-20 13:45:00", "2026-08-20T13:45", "2026-08-20T13:45Z", "2026-08-20T15:45:00+0200", "2026-08-20T15:45+02",
      "20260820T134500Z", "2026-08-20T13:45:00", "2026-08-20 13:45:00 +0000", "2026-08-20 08:45:00 -05:00",
      "2026-08-20T13:45:00,000Z", "2026-08-20 13:45:00 UTC",
      "Thu, 20 Aug 2026 13:45:00 +0000", "Thu, 20 Aug 2026 13:45:00 GMT", "Thu, 20 Aug 2026 15:45:00 +0200",
      "20 Aug 2026 13:45:00 GMT", "20 Aug 2026 13:45 GMT", "Thu, 20 Aug 26 13:45:00 GMT", "20 Aug 2026 13:45:00",
      "Thu, 20 Aug 2026 09:45:00 EDT", "Thu, 20 Aug 2026 09:45:00 et",
      "Thu, 20 Aug 2026 06:45:00 PDT", "Thu, 20 Aug 2026 15:45:00 CEST",
      "Thu, 20 Aug 2026 22:45:00 JST", "Thursday, 20 August 2026 13:45:00 Z", "Thu, 20 August 2026 13:45:00 UT",
      "Mon, 20 Aug 2026 13:45:00 GMT", "Thu,20 Aug 2026 13:45:00 GMT", "  Thu, 20  Aug 2026\n13:45:00 GMT ",
      "Thu, 20 Aug 2026 13:45:00 +00:00", "Thu, 20 Aug 2026 15:45:00 GMT+0200", "Thu, 20 Aug 2026 15:45:00 UTC+2",
      "Thu, 20 Aug 2026 15:45:00 +0200 (CEST)", "20-Aug-2026 13:45:00 GMT", "Thursday, 20-Aug-26 13:45:00 GMT",
      "Aug 20, 2026 13:45:00 GMT", "August 20, 2026 1:45 PM", "Thu Aug 20 13:45:00 2026",
      "Thu Aug 20 13:45:00 UTC 2026",
      "20 aug 2026 13:45:00 gmt", "Thu., 20 Aug. 2026 13:45:00 GMT", "20th August 2026 13:45 UTC",
      "Thu, 20 Aug 2026 13:45:00 XYZ", "Do, 20 Aug 2026 13:45:00 GMT", "Thu, 20 Aug 2026 13:45:00GMT",
      "2026-08-20T13:45:00 Z", "2026-08-20T13:45:00 +00:00", "2026-08-20 13:45:00Z", "2026-08-20T13:45:00.0000000Z",
      "2026-08-20T13:45:00.000000+00:00", "2026-08-20T13:45:00.000000000000Z", "2026-08-20T13:45:00GMT",
      "2026-08-20T13:45:00 UTC", "2026-08-20T13:45:00-00:00", "2026-8-20 13:45", "2026/08/20 13:45:00",
      "2026-08-20T13:45:00.000Z[UTC]", "2026-08-20T15:45:00+02:00[Europe/Berlin]",
      "Thu Aug 20 13:45:00 +0000 2026", "Thu, 20 Aug 2026 13:45:00 -0000", "Thu, 20 Aug 2026, 13:45:00 GMT",
      "Thu, Aug 20 2026 13:45:00 GMT", "Thursday, August 20, 2026 1:45:00 PM", "Thursday, August 20, 2026 - 13:45",
      "Thu, 20 Aug 2026 9:45:00 EDT", "Thu, 20 Aug 2026 13:45:00 GMT+00:00", "Thu, 20 Aug 2026 8:45:00 AM EST",
      "Thu, 20 Aug 2026 8:45:00 EST",
      "Thu Aug 20 2026 15:45:00 GMT+0200 (Central European Summer Time)", "Thu, 20 Aug 2026 13:45:00 +0000 GMT",
      "\u{A0}Thu, 20 Aug 2026 13:45:00 GMT\n\t", "Thu, 20 Aug 2026T13:45:00Z",
      "Thu, 20 Aug 2026 13:45:00.000 GMT", "Thu, 20 Aug 2026 13.45.00 GMT", "20.08.2026 13:45", "20.8.2026, 13:45:00",
      "Do, 20. August 2026 15:45 MESZ", "20 août 2026 13:45", "jeu., 20 août 2026 13:45:00 +0000",
      "20 ago 2026 13:45", "20 Aug, 2026 13:45 UTC", "20 AUG 2026 1345 GMT", "Чт, 20 авг 2026 13:45:00 GMT",
      "20 Aug 2026 0145 PM GMT",
      "Thu, 20 Aug 2026 at 1:45 PM", "Aug. 20th, 2026 1:45pm", "Thu, 20 Aug 2026 7:15 PM IST",
      "Thu, 20 Aug 2026 13:45:00 Z",
      "2026-08-20T13:45:00+0", "Thu, 20 Aug 2026 13:45:00+0000", "mar., 20 août 2026 13:45",
      "20 de agosto de 2026 13:45", "Thu, 20 Aug 2026 13:45:00Z", "2026-08-20T13:45:00+00",
      "20 Augus 2026 13:45", "20 Aug 2026 13\u{200F}:45", "2026\u{2013}08\u{2013}20 13:45", "13:45:00, 20 Aug 2026",
      "20 Aug 2026 13:45 AM", "20 Aug 2026 1345 AM", "20 Aug 2026 13:45 GMT EST", "21 Aug 2026 04:45 +1500",
      "1345, 20 Aug 2026", "20 08 2026 13:45", "20/8/26 13:45",
      "20 Aug 2026 13:45 (\(String(repeating: "x", count: 236)))", "mar 20 août 2026 13:45",
      "June edition, 20 Aug 2026 13:45", "20 août 2026 13:45 de l'est",
    ])
  func forms(text: String) {
    #expect(FeedDate.date(from: text) == august)
  }

  @Test(
    "are midnight without a time, and keep the written precision",
    arguments: [
      ("2026-08-20", "2026-08-20T00:00:00.000Z"), ("20 Aug 2026", "2026-08-20T00:00:00.000Z"),
      ("Thu, 20 Aug 2026", "2026-08-20T00:00:00.000Z"), ("2026-08", "2026-08-01T00:00:00.000Z"),
      ("2026", "2026-01-01T00:00:00.000Z"), ("2026-08-20T13:45:06.789Z", "2026-08-20T13:45:06.789Z"),
      ("2026-08-20 13:45:06.5", "2026-08-20T13:45:06.500Z"), ("1 Sept 1999 12:00 am", "1999-09-01T00:00:00.000Z"),
      ("1 Sept 1999 1215 am", "1999-09-01T00:15:00.000Z"), ("1 Sept 1999 1215 pm", "1999-09-01T12:15:00.000Z"),
      ("Sun, 06 Nov 94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"), ("1 Jan 049 00:00:00", "1949-01-01T00:00:00.000Z"),
      ("mar, 3 mars 2026", "2026-03-03T00:00:00.000Z"), ("3. März 2026 10:00", "2026-03-03T10:00:00.000Z"),
      ("15 juil. 2026 10:00", "2026-07-15T10:00:00.000Z"),
      ("Вт, 5 мая 2026 10:00:00 +0300", "2026-05-05T07:00:00.000Z"),
      ("1 dic 2026 10:00", "2026-12-01T10:00:00.000Z"),
      ("Thu, 20 Aug 2026 13:45:06.75 GMT", "2026-08-20T13:45:06.750Z"),
      ("Wed, 01 Jan 2020 00:30:00 +0100", "2019-12-31T23:30:00.000Z"),
      ("29 Feb 2024 23:59:60 GMT", "2024-03-01T00:00:00.000Z"),
      ("1500-01-01T00:00:00Z", "1500-01-01T00:00:00.000Z"),
      ("20 Aug 2026 13:45:06:500", "2026-08-20T13:45:06.500Z"), ("20 août 15h 2026", "2026-08-20T15:00:00.000Z"),
      ("Sun, 25 Oct 2026 01:30:00 Europe/Berlin", "2026-10-24T23:30:00.000Z"),
      ("20 Aug 2026 1 PM", "2026-08-20T13:00:00.000Z"), ("20 Aug 2026 1 p. m.", "2026-08-20T13:00:00.000Z"),
      ("20 Aug 2026 12 PM", "2026-08-20T12:00:00.000Z"), ("20 Aug 2026 13hrs", "2026-08-20T13:00:00.000Z"),
      ("20 ago 2026 13hs", "2026-08-20T13:00:00.000Z"), ("99 Aug 20 13:45", "1999-08-20T13:45:00.000Z"),
      ("99/08/20 13:45", "1999-08-20T13:45:00.000Z"), ("946728000", "2000-01-01T12:00:00.000Z"),
      ("999999999999", "2001-09-09T01:46:39.999Z"), ("2024-366", "2024-12-31T00:00:00.000Z"),
      ("2024-W01", "2024-01-01T00:00:00.000Z"), ("13:45 20-Aug-14", "2014-08-20T13:45:00.000Z"),
      ("20 Meán Fómhair 2026 13:45", "2026-09-20T13:45:00.000Z"), ("1787233500.5", "2026-08-20T13:45:00.500Z"),
      ("170101010000", "1975-05-23T18:16:50.000Z"), ("Fri, 01/05/1968", "1968-01-05T00:00:00.000Z"),
    ])
  func exact(text: String, expected: String) {
    #expect(FeedDate.date(from: text).map { RFC3339.string(from: $0) } == expected)
  }

  @Test(
    "are rejected if they are impossible or ambiguous",
    arguments: [
      "", "yesterday", "2026-13-01", "2026-02-30", "2026-08-20T25:00:00Z", "2026-08-20T13:61:00Z", "32 Aug 2026 10:00",
      "31 Jun 2026 10:00:00 GMT", "20 Aug", "Thu, 20 Aug 2026 13:45:00 +9900", "20 Aug 2026 24:01",
      "0000-00-00 00:00:00", "0001-01-01T00:00:00Z", "13:45", "20 Foo 2026 13:45", "20 Aug 2026 13",
      "Aug Aug 2026 13:00", "99999-01-01T00:00:00Z", "8/9/2026", "2026-08-20T13:45:00+", "-1 Aug 2026 13:45",
      "Mon, 30 Nov -0001 00:00:00 +0000", "20 ju 2026", "20 Aug 2026 13:45:00 +", "2026-8", "03-08-31",
      String(repeating: "2026 ", count: 60), "20 Aug 2026 13:45:00 +٢٣", "20 Aug 2026 13:45 14:45 15:45",
      "1499-12-31T23:59:59Z", "20 sc 2026 10:00", "20 Aug 2026 13 PM", "20 Aug 2026 0 AM", "20 08 26 13:45",
      "20/08-2026 13:45", "08.20.2026 13:45", "2026-W54-1", "2026-367", "2026-000", "20 Aug 2026 13:45:00 +1600",
      "20 Aug 2026 13:45:00 +0060", "20 Aug 2026 13:45:00.\(String(repeating: "0", count: 19))",
      "20260820134575", "20 Aug 2026 13:45:00 +0000 +0200", "20 Aug 2026 15:45 +0200 0100", "20 Aug 2026 13 45",
      "20 Aug 2026 24:00:01", "20 Aug 2026 24:00:00.5", "20 Aug 2026 13:45 (\(String(repeating: "x", count: 237)))",
      "20 and 2026 10:00", "20, 08, 26 13:45", "02026-08-20 13:45", "1405/07/31 13:45", "20 Aug 1200 13:45",
      "/Date(-62135596800000)/",
    ])
  func refused(text: String) {
    #expect(FeedDate.date(from: text) == nil)
  }

  @Test(
    "are read in other orders, clocks, zones and digits",
    arguments: [
      "20/08/2026 13:45", "8/20/2026 1:45:00 PM", "20.8.26 13:45", "2026/8/20 13:45", "2026. 8. 20. 13:45",
      "20-08-2026 13:45", "2026年8月20日 13:45", "2026年8月20日(木) 13時45分", "二〇二六年八月二十日 13:45", "令和8年8月20日 13:45",
      "2026년 8월 20일 오후 1:45", "2026年8月20日 下午1:45", "2026 年 8 月 20 日 13:45", "20 tháng 8, 2026 13:45",
      "٢٠ أغسطس ٢٠٢٦ ١٣:٤٥", "20 สิงหาคม 2569 13:45 น.", "20 สิงหาคม 2569 13 นาฬิกา 45 นาที", "२० अगस्त २०२६, १३:४५",
      "Fri, 21 Aug 2026 1:45 +1200", "20 באוגוסט 2026 13:45", "۲۹ مرداد ۱۴۰۵ ۱۳:۴۵",
      "1405/05/29 13:45", "20 Αυγούστου 2026, 1:45 μ.μ.", "20 de agosto de 2026, 1:45 p. m.", "2026-W34-4T13:45Z",
      "2026-232T13:45", "20. elokuuta 2026 klo 13.45", "20 août 2026 à 13h45", "20 Aug 2026 13:45:00 0000",
      "2026-08-20T15:45:00 02:00", "Thu, 20 Aug 2026 15:45:00 Europe/Berlin", "2026-08-20 15:45[Europe/Berlin]",
      "20 Aug 2026 09:45 EST5EDT", "Thu, 20 Aug 2026 09:45 ET", "1787233500", "1787233500000", "1787233500.000",
      "202608201345", "20260820134500", "20/Aug/2026:13:45:00 +0000", "13:45, 20 Aug 2026", "2026:08:20 13:45:00",
      "Fri, 2026/08/20 13:45:00", "czw., 20 sie 2026 13:45:00", "torsdag den 20. august 2026 kl. 13.45",
      "20 Ağustos 2026 Perşembe 13:45", "20 серпня 2026 р., 13:45", "2026. augusztus 20. 13:45",
      "2026年8月20日 中午1:45", "2026年8月20日 傍晚1:45", "2026年8月20日 晚上1:45", "2026年8月20號 13點45分",
      "二〇二六年八月二十号 13:45", "2026年8月20日 13时45分", "2026年8月20日 13点45分", "2026년 8월 20일 13시 45분 0초",
      "20 Aug 2026 13h45m00s", "20.08.2026 13 Uhr 45", "20 августа 2026 13 ч 45", "20 серпня 2026 13 год 45",
      "20 Aug 2026 13 ໂມງ 45", "20 thg 8, 2026 13:45", "8月20日 2026 13:45", "2026年8月 20, 13:45", "1787233500000000",
      "1787233500000000000", "August 20, 2026 -13:45", "2026年8月20日下午1:45", "20 - 08 - 2026 13:45",
      "13:45 - 8/20/2026", "20 สิงหาคม 2569 13 นาฬิกา 45 นาที 0 วินาที", "20 Aug 2026 13 ໂມງ 45 ນາທີ 0 ວິນາທີ",
      "2026年8月20日 星期四 13:45", " 1787233500\n",
    ])
  func others(text: String) {
    #expect(FeedDate.date(from: text) == august)
  }

  @Test(
    "are the next midnight at 24:00, and the next second at a leap second",
    arguments: [
      ("2024-01-05T24:00:00Z", "2024-01-06T00:00:00.000Z"), ("31 Dec 2024 24:00", "2025-01-01T00:00:00.000Z"),
      ("Fri, 05 Jan 2024 10:00:60 GMT", "2024-01-05T10:01:00.000Z"),
      ("Fri, 05 Jan 2024 10:00:00 Europe/Berlin", "2024-01-05T09:00:00.000Z"),
      ("05 Jan 24 10:00 EST5EDT", "2024-01-05T15:00:00.000Z"), ("2024-W01-5", "2024-01-05T00:00:00.000Z"),
      ("2026-W53-1", "2026-12-28T00:00:00.000Z"), ("2027-W01-1", "2027-01-04T00:00:00.000Z"),
    ])
  func edges(text: String, expected: String) {
    #expect(FeedDate.date(from: text).map { RFC3339.string(from: $0) } == expected)
  }

  @Test(
    "count by eras, by the Buddhist calendar and in Han numbers, with the halves of Chinese days",
    arguments: [
      ("平成31年4月30日", "2019-04-30T00:00"), ("昭和64年1月7日", "1989-01-07T00:00"), ("令和元年五月一日", "2019-05-01T00:00"),
      ("民國113年1月5日", "2024-01-05T00:00"), ("民国113年1月5日", "2024-01-05T00:00"),
      ("1 Jan 2442", "2442-01-01T00:00"), ("1 Jan 2443", "1900-01-01T00:00"), ("1 Jan 2643", "2100-01-01T00:00"),
      ("1 Jan 2644", "2644-01-01T00:00"), ("二〇二四年十二月廿一日", "2024-12-21T00:00"),
      ("二零二四年一月卅一日", "2024-01-31T00:00"), ("二〇二六年三月三十一日", "2026-03-31T00:00"),
      ("一九九七年六月九日", "1997-06-09T00:00"), ("二〇〇八年七月十日", "2008-07-10T00:00"),
      ("2026年8月20日 凌晨12:45", "2026-08-20T00:45"), ("2026年8月20日 清晨12:45", "2026-08-20T00:45"),
      ("2026年8月20日 早上12:45", "2026-08-20T00:45"), ("民國2024年1月5日", "2024-01-05T00:00"),
    ])
  func calendars(text: String, expected: String) {
    #expect(FeedDate.date(from: text).map { RFC3339.string(from: $0) } == expected + ":00.000Z")
  }

  @Test(
    "have offsets and zones after times without colons, and after the halves of the day",
    arguments: [
      "20260820T154500+0200", "20260820T1545+0200", "20260820T084500-0500", "20260820T0845-0500", "20260820T134500Z",
      "20260820T1545+02:00", "20260820 154500 CEST", "20260820 154500 +0200", "20260820-154500+0200",
      "Thu, 20 Aug 2026 15.45.00 +0200", "Thu, 20 Aug 2026 08.45.00 -0500", "20 Aug 2026 1545 +0200",
      "20 Aug 2026 0845 -0500", "20 Aug 2026 08.45-0500", "20.08.2026 15.45 +0200", "2026-08-20 154500 +0200",
      "2026-08-20 1545+0200", "2026年8月20日 2245 +0900", "Thu, 20 Aug 2026 8:45AM-0500", "20 Aug 2026 3:45PM+0200",
      "20 Aug 2026 3:45 p.m.+0200", "20 Aug 2026 8:45 am -05:00", "20 Aug 2026 15h45+0200",
      "20 Aug 2026 15:45 Uhr+0200",
      "2026年8月20日22時45分+0900", "20260820 154500 Europe/Berlin", "20 Aug 2026 CEST 15:45",
      "20/08/2026 cest 15:45", "20 Aug 2026 10:45 Etc/GMT+3", "20 Aug 2026 09:45 America/Port-au-Prince",
      "20 Aug 2026 10:45 America/Argentina/Buenos_Aires", "15:45, 20 Aug 2026 +0200",
      "20 Aug 2026 13:45 GMT Europe/Berlin", "20260820 154500 cest",
    ])
  func zones(text: String) {
    #expect(FeedDate.date(from: text) == august)
  }

  @Test(
    "have the zone of a comment, or of a name in words, if there is no other",
    arguments: [
      "Thu, 20/08/2026 20:45 (GMT+7)", "Thu, 20 Aug 2026 08:45:00 (EST)", "20 Aug 2026 14:45 (UTC+01:00)",
      "20 Aug 2026 15:45 (Europe/Berlin)", "20 Aug 2026 15:45 (+0200)", "20 Aug 2026 8:45 AM (UTC -5)",
      "20 Aug 2026 13:45 (GMT)", "20 Aug 2026 15:45 (Central European Summer Time)", "20 Aug 2026 08:45 XYZ (EST)",
      "20 Aug 2026 (Thursday) 15:45 (CEST)", "20 Aug 2026 08:45 Eastern Standard Time",
      "20 Aug 2026 09:45 Eastern Daylight Time", "20 Aug 2026 9:45 AM Eastern Time", "20 Aug 2026 06:45 Pacific Time",
      "20 Aug 2026 22:45 Japan Standard Time", "20 Aug 2026 13:45 Greenwich Mean Time",
      "20 Aug 2026 13:45 GMT (EST)", "20 Aug 2026 13:45 +0000 (GMT+7)", "20 Aug 2026 13:45 (local)",
      "20 Aug 2026 13:45 (7)", "/Date(1787233500000)/", "\\/Date(1787233500000+0200)\\/",
      "new Date(1787233500000)", "20 ส.ค. 69 13:45", "20 ส.ค. 2569 13:45",
    ])
  func comment(text: String) {
    #expect(FeedDate.date(from: text) == august)
  }

  @Test(
    "are the first day of a month without a day",
    arguments: [
      ("March 2024", "2024-03-01"), ("März 2024", "2024-03-01"), ("2024 March", "2024-03-01"),
      ("Mar-2024", "2024-03-01"),
      ("mars 2024", "2024-03-01"), ("2024年3月", "2024-03-01"), ("tháng 3, 2024", "2024-03-01"),
      ("มีนาคม 2567", "2024-03-01"), ("2024-03", "2024-03-01"), ("2024", "2024-01-01"), ("2024 г.", "2024-01-01"),
      ("/Date(-86400000)/", "1969-12-31"), ("5 ม.ค. 67", "2024-01-05"), ("2024-03Z", "2024-03-01"),
    ])
  func month(text: String, expected: String) {
    #expect(FeedDate.date(from: text).map { String(RFC3339.string(from: $0).prefix(10)) } == expected)
  }

  @Test(
    "are rejected if a word or a number may mean something else",
    arguments: [
      "Summer 2024", "March/April 2024", "Sunday 2024", "2024 edition", "Q1 2024", "2024-03 draft",
      "March 2024 10:30", "113/01/05", "124-01-05", "5 ม.ค. 24", "20 Aug 2026 0800-1000", "20 Aug 2026 08.00-10.00",
      "2026-08-20+13:45", "/Date(x)/", "/Date(99999999999999999)/", "Date", "March", "2024年3月 10:30",
      "2024年3月 1345", "listopad 2024", "March 24", "2026 08", "2026-08 10:30",
      "March April 2024",
    ])
  func unclear(text: String) {
    #expect(FeedDate.date(from: text) == nil)
  }

  @Test("with a year of three digits at the start are Taiwanese in feeds in Chinese")
  func taiwan() {
    #expect(dates(["113/01/05", "113.01.05"], language: "zh-TW") == ["2024-01-05", "2024-01-05"])
    #expect(dates(["113/01/05", "113/01/05"], language: "ja") == [nil, nil])
  }

  /// Returns the dates of the entries of an RSS feed, or `nil` for the entries that are skipped.
  private func dates(_ texts: [String], language: String? = nil) -> [String?] {
    let items = texts.enumerated().map { "<item><guid>\($0)</guid><title>t</title><pubDate>\($1)</pubDate></item>" }
    let channel = "<link>https://example.org/</link>" + (language.map { "<language>\($0)</language>" } ?? "")
    let entries = events(rss(items.joined(), channel: channel)).entries
    return texts.indices.map { index in
      entries.first { $0.guid == "\(index)" }.map { String(RFC3339.string(from: $0.date).prefix(10)) }
    }
  }

  @Test("with an ambiguous order are decided by the document, the weekday or the language, and refused otherwise")
  func order() {
    // A later date proves the order of an earlier one.
    #expect(dates(["01/05/2024", "27/11/2023"]) == ["2024-05-01", "2023-11-27"])
    #expect(dates(["01/05/2024", "11/27/2023"]) == ["2024-01-05", "2023-11-27"])
    #expect(dates(["11/27/2023", "01/05/2024"], language: "de") == ["2023-11-27", "2024-01-05"])
    #expect(dates(["01/05/2024"], language: "en-US") == ["2024-01-05"])
    #expect(dates(["01/05/2024"], language: "en-gb") == ["2024-05-01"])
    #expect(dates(["01/05/2024"], language: "fr") == ["2024-05-01"])
    #expect(dates(["Fri, 01/05/2024"]) == ["2024-01-05"])
    #expect(dates(["Wed, 01/05/2024"]) == ["2024-05-01"])
    // The weekday is that of the local day, which is a Thursday in UTC.
    #expect(dates(["Fri, 01/05/2024 00:30:00 +0200"]) == ["2024-01-04"])
    #expect(dates(["01/05/2024 10:00 AM"]) == ["2024-01-05"])
    #expect(dates(["05-01-2024", "05.01.2024"]) == ["2024-01-05", "2024-01-05"])
    #expect(dates(["01/05/2024", "x"]) == [nil, nil])
    // Neither points nor equal numbers prove an order.
    #expect(dates(["01/05/2024", "27.11.2023"]) == [nil, "2023-11-27"])
    #expect(dates(["27/11/2023", "11/27/2023", "01/05/2024"]) == ["2023-11-27", "2023-11-27", nil])
    #expect(dates(["05/05/2024", "01/05/2024"]) == ["2024-05-05", nil])
    #expect(dates(["03/12/31"], language: "ja") == ["2003-12-31"])
    #expect(dates(["03-12-31"], language: "de") == ["2031-12-03"])
    #expect(dates(["01/05/2024"], language: "en-Latn-GB") == ["2024-05-01"])
    for name in ["pubDate", "lastBuildDate"] {
      let channel = "<link>https://example.org/</link><\(name)>27/11/2023</\(name)>"
      let found = events(rss("<item><title>t</title><pubDate>01/05/2024</pubDate></item>", channel: channel)).entries
      #expect(found.map { RFC3339.string(from: $0.date) } == ["2024-05-01T00:00:00.000Z"], "\(name)")
    }
    #expect(
      events(rss("<item><title>t</title><pubDate>01/05/2024</pubDate></item>")).complaints == [
        "skipped line 5: the date \"01/05/2024\" may begin with the day or with the month"
      ])
    let item = #"{"id":"1","content_text":"x","date_published":"01/05/2024"}"#
    let feed = #"{"version":"https://jsonfeed.org/version/1","items":[\#(item)]}"#
    for (text, place) in [(feed, "entry"), (#"{"guid":"1","text":"x","date":"01/05/2024"}"#, "line")] {
      let complaint = "skipped \(place) 1: the date \"01/05/2024\" may begin with the day or with the month"
      #expect(events(text).complaints == [complaint])
    }
  }

  @Test("have the months of the feed's language, if a name means several")
  func language() {
    #expect(dates(["5 listopada 2024"], language: "pl") == ["2024-11-05"])
    #expect(dates(["5 listopada 2024"], language: "hr") == ["2024-10-05"])
    #expect(dates(["5 listopada 2024"], language: "pl-PL") == ["2024-11-05"])
    #expect(dates(["wto, 5 listopada 2024"]) == ["2024-11-05"])
    #expect(dates(["5 listopada 2024"]) == [nil])
  }

  @Test("never trap", arguments: 0..<20)
  func noise(seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    let pieces = [
      "20", "Aug", "2026", ":", "-", "+", "T", "Z", " ", ",", ".", "13", "(", ")", "PM", "é", "GMT", "9999999999",
    ]
    for _ in 0..<500 {
      var text = ""
      for _ in 0..<10 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text += pieces[Int(state >> 33) % pieces.count]
      }
      if let date = FeedDate.date(from: text) {
        #expect(RFC3339.date(from: RFC3339.string(from: date)) == RFC3339.truncated(date))
      }
    }
  }

  @Test(
    "with two-digit years up to 49 are in this century (RFC 5322 section 4.3)",
    arguments: [(0, 2000), (26, 2026), (48, 2048), (49, 2049), (50, 1950), (51, 1951), (99, 1999)])
  func twoDigits(year: Int, full: Int) throws {
    let text = year < 10 ? "0\(year)" : "\(year)"
    let date = try #require(FeedDate.date(from: "20 Aug \(text) 13:45:00 GMT"))
    #expect(RFC3339.string(from: date) == "\(full)-08-20T13:45:00.000Z")
  }

  @Test(
    "have an offset to the west with a minus sign or a hyphen",
    arguments: [
      "2026-08-20T10:45:00\u{2212}03:00", "Thu, 20 Aug 2026 10:45:00 \u{2212}0300", "2026-08-20T10:45:00-03:00",
      "2026-08-20T10:45:00\u{2212}0300",
    ])
  func minusSign(text: String) {
    #expect(FeedDate.date(from: text) == august)
  }

  @Test(
    "have offsets to the minute",
    arguments: [
      "Thu, 20 Aug 2026 19:15:00 +0530", "Thu, 20 Aug 2026 10:15:00 -0330", "2026-08-20T19:30:00+0545",
      "2026-08-20 10:15 -03:30", "Thu, 20 Aug 2026 19:15:00 GMT+5:30",
    ])
  func minutes(text: String) {
    #expect(FeedDate.date(from: text) == august)
  }

  @Test(
    "may have nested comments between any two words (RFC 5322 section 3.2.2)",
    arguments: [
      "20 Aug 2026 (Thursday) 13:45:00 GMT", "(sent) 20 (the 21st (really) here) Aug 2026 13:45:00 GMT",
      "Thu, 20 Aug 2026 13:45:00 (local: 15:45) GMT",
    ])
  func comments(text: String) {
    #expect(FeedDate.date(from: text) == august)
  }

  @Test(
    "with an ambiguous order do not hold back more than a thousand entries", arguments: [(999, false), (1000, true)])
  func waiting(count: Int, isLong: Bool) {
    let item = "<item><title>t</title><pubDate>01/05/2024</pubDate></item>\n"
    let text = rss(String(repeating: item, count: count)).dropLast("</channel></rss>".count)
    #expect(FeedReader().feed(Data(text.utf8)).isEmpty == !isLong)
  }

  @Test("with an ambiguous order are read as soon as a later one proves it")
  func decided() {
    let items = ["01/05/2024", "27/11/2023"].map { "<item><title>\($0)</title><pubDate>\($0)</pubDate></item>\n" }
    let text = rss(items.joined()).dropLast("</channel></rss>".count)
    #expect(FeedReader().feed(Data(text.utf8)).entries.count == 2)
  }

  @Test("of entries are whole milliseconds")
  func precision() throws {
    let item = "<item><title>t</title><pubDate>1787233500000400</pubDate></item>"
    #expect(try entry(rss(item)).date == august)
  }

  @Test("with an ambiguous order hold back what is between them, too")
  func waitingProblems() {
    let fields = ["<pubDate>01/05/2024</pubDate>", "<b></p>", "<pubDate>27/11/2023</pubDate>"]
    let found = events(rss(fields.map { "<item><title>t</title>\($0)</item>\n" }.joined()))
    let areEntries = found.map { event in if case .entry = event { true } else { false } }
    #expect(areEntries == [true, false, true])
  }

  @Test("with an ambiguous order do not hold back more than 4 MiB", arguments: [(3, false), (4, true)])
  func waitingBytes(count: Int, isLong: Bool) {
    let text = String(repeating: "x", count: 1 << 20)
    let lines = (1...count).map { #"{"guid":"\#($0)","date":"01/05/2024","text":"\#(text)"}"# + "\n" }
    #expect(FeedReader().feed(Data(lines.joined().utf8)).isEmpty == !isLong)
  }
}
