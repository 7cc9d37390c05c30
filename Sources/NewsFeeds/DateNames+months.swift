// Written by scripts/date-names from CLDR, as babel 2.18.0 has it.

extension DateNames {
  /// The names of the months, January first.
  package static let monthNames = [
    """
    aha aharabata ama amajjii amfaoilleach ayr bhi bhimbidvwane can chanuari chaykahdayhaˀimay chi chinero cio ciongo \
    dac dal daschaner dechinero degen degener degenier dejena dexineru dezen dezena dhenfhaoilleach dighjennaghju dimɔdi \
    dwemarachiel dyon dzove dzv ean eanair ene enero faoi ferikgong fiiloo flo fungatɨ gen gener genier gennaio genver \
    ger ghe ghennargiu ghj ghjennaghju hanuere hashiʼammoʼnaʼ hut hywanayrnig ian ianuali ianuarie ianuarii ianuarius \
    imb iməgmbegtug inn innayr ion ionawr jaan jaanuar jan janaayo janabari janairu janar janeiro janeiru janer janeru \
    janeware janewoore jannaayo jannar janner jannewa jannewaris janoary januaar januaari januaarip januali januar \
    januara januare januari januarie januario januaro january janueri januwale januwari janv janvaris janvars janvier \
    janwaliyo janwari janyuwari jasytei jen jena jenaro jenner jenuari jenuwari jerreygeuree jguer jin jinnaru juw kbz \
    kii kingalidas kɔn kɔndɔŋ kʉfungatɨ lapaleobo led leden ledna mbe mbegtug misgenver morighwaimbiri mul mulgul mup \
    mupalangulwa mut mutarama mwaiwambee mwedintandi mweriwakwanza mweriwambere mweriwokwanza ndi ndira nduŋmbisaŋ \
    ndwenit ndzɔŋɔnum ngwɛnmatahra ngɔnosu njenuari num nyenye nzero obo oca ocak okwokubanza oladalʉ orara oshushɛrɛ \
    osusere ođđajagemannu ođđj pamba pamwedzigwahutala pendyon phando phe phere pherekgong pikitikitieooliukutuan pusu \
    pusulenju qun qunxagarablu rag rags rbn rebendan rvfocuse sam samwiyee san sanuali sanvie sanzayayambo saus sausio \
    sausis saŋtsetsɛɛlum schan schaner sginer sii siilo sij sijecanj sijecnja sty styczen stycznia styczyn sunguti tammi \
    tammikuu tammikuuta tiop tioptharpɛt urt urtarrila uđiv uđđaivemaanu wiothehikawi xan xaneiro xin xineru yan yanuari \
    yanul yanvar yanwar yen yennayer yepe zan zanvie zanwiye zanwuye zen zena zenar zib zibandlela zwatjuwung \
    ŋwiiantɔntɔ ǃkhanni ɔpɛpɔn ɩjikawǝrkakaŋɔrɔ ιαν ιανουαριος ιανουαριου ажь ажьырныҳəа гыин гыинвар кар карлач \
    нэгдүгээрсар сту студзень студзеня січ січень січня тохс тохсунньу якш якшамков янв январ январы январь января яну \
    януари і҆аннꙋаріа і҆аннꙋаріи і҆аⷩ҇ јан јанвар јануар јануари қаң қаңтар հնվ հունվար հունվարի יאַנ יאַנואַר ינו ינואר \
    جانفي جانواري جانڤیە جن جنؤری جنو جنوري جنوری جَن جَنَيْرُ قاڭتار كانونالتاني كانونالثاني يانۋار يناير ژانویه \
    ژانویهٔ کانوونیدووەم ܟܢܘܢܐܚܪܝܐ ܟܢܘܢܒ ߓߌ߲ߠ ߓߌ߲ߠߊߥߎߟߋ߲ जन जनवरी जनवरीमासः जान जानुवारी जाने जानेवारी पुसु पुसुलेञ्जु \
    জন জনুৱারী জানু জানুয়ারী জানুৱারি জানুৱাৰী ਜਨ ਜਨਵਰੀ જાન્યુ જાન્યુઆરી ଜାନୁଆରୀ ପୁସୁ ପୁସୁଲେଞ୍ଜୁ ஜன ஜனவரி జన జనవరి మాగ \
    ಜನ ಜನವರಿ ജനു ജനുവരി ජන ජනවාරි มกราคม มค ມກ ມັງກອນ ཟླདངཔ ཟླབདངཔོ སྤྱིཟླདངཔ ဇန် ဇန်နဝါရီ იან იანვარი ልደት ልደትሪ ጃን ጃንዋሪ \
    ጃንዩ ጃንዩወሪ ጠሐረ ጥሪ ᐅᒉᒥᑮᓯᑳᐏᐲᓯᒼ ᔭᓐᓄᐊᓕ មករា ᠨᠢᠭᠡᠳᠥᠭᠡᠷᠰᠠᠷᠠ ᱡᱟᱱ ᱡᱟᱱᱣᱟᱨᱤ ⵉⵏⵏ ⵉⵏⵏⴰⵢⵔ 一月 ꋍꆪ ꖨꖕꔞ ꖨꖕꕪꕴꔞꔀꕮꕊ ꭴꮓ ꭴꮓꮈꮤꮕ 𐐾𐐰𐑌 𐐾𐐰𐑌𐐷𐐭𐐯𐑉𐐨 \
    𐑡𐑨 𐑡𐑨𐑙𐑘𐑭𐑢𐑺𐑰 𐓨𐓣𐓪𐓬𐓘𐓬𐓘𐓡𐓛𐓧𐓟 𐓬𐓘𐓡𐓛𐓧𐓟 𑄎𑄚𑄪 𑄎𑄚𑄪𑄠𑄢𑄨 𞄆𞄬 𞤧𞤭𞥅𞤤 𞤧𞤭𞥅𞤤𞤮
    """,
    """
    ahw angearran arat baa brayr chw chwef chwefror cla cokcwaklaŋne col colte cʼhwe cʼhwevrer dafavrer dar defebr \
    defebrer defebrero defebreru defebrier defora defre defreva dhaidas dhenghearran dhi dibo diferraghju dwemarariyo \
    dzd dzodze fab fabrowa faburairu favr favrer fbl feabh feabhra feb febbraio febereware febirie febluali febr \
    febraayo febraro febrayer febreiro febrer febrero febreru febrewaris febrewoore febrier febroary februaar februaari \
    februaarip februar februara februari februarie februarii februario februaris februarius februaro februars february \
    februeri februwari febuare febuari febul febuluwale feburari feburuari feburuye febwaliyo fee feewiriye fep fepueli \
    ferraghju fev fevereiro fevereiru fevr fevral fevrar fevreiro fevrer fevrier fevriye few fewral fewriyee fora fra \
    frar fre freargiu freva fri frivaru fulundigi fur furar gas gashyantare gearr guov guovvamannu gur guraandhala \
    hashiʼatokloʼ helmi helmikuu helmikuuta hereuer hlakola hor hornig hotvlehvse hwe hywanahwa imegabubi indlovana \
    jasykoi kai kbr kudo kukadzi kuova kuovamaanu kɨz kʉnaanɨ lapalewaare luh luhuhi luishi lutego luty macɛl maha \
    mahalenju mishwevrer morighwakawi muk mukui mwaiwakeli mwediwapili mwerewakeri mweriwakaili mweriwakairi \
    mweriwounayeli mwi mwitope naanɨ nah ndwenngeih ndzɔŋɔkɨzuʔ ngat ngatyaato ngwɛnnmba ngɔnbɛ nhlo nhlolanja \
    nyenyenyani ofl oflɔ okwakabiri omuk oshuerele osuerele otsaila pamwedzigwawuvili par parwari peb pebrero pebruari \
    penbaʼa pep pepeluali pepuere pɛsaŋpɛpa pɛt ruhuhuma sanzayamibale saŋkagngwoŋ sbt shk shkurt sibat siɛyɛooliukandiɛ \
    sub subat swi tarree thiyoheyuŋkawi tlh tlhakole toshiaghtarree tsahkapbiˀ ufeberbari una uno unor unora van vas \
    vasario vasaris veebr veebruar velj veljaca veljace vil waa wanja was wassarins wkr yebrayer zwatswiyang ŋgɔn ŋgɔndɛ \
    ŋwiiakǝbɛɛ ǃkhanǀgoab ɔgyefoɔ ɩjikpakakaŋɔrɔ φεβ φεβρουαριος φεβρουαριου ақп ақпан дав даволков жəаб жəабран лют \
    лютага лютии лютого люты нар нарас олун олунньу феб фебруар фев февр феврал февралы февраль февраля февруари \
    феврꙋаріа феврꙋаріи феⷡ҇ хоердугаарсар փետրվար փետրվարի փտվ פֿעב פֿעברואַר פבר פברואר اقپان شباط شوبات فئڤریە فبر \
    فبراير فبروري فبروری فرؤری فروری فوریه فوریهٔ فيبروري فيبواري فيفري فېبروري فېۋرال پر پروری ڢَب ڢَبْرَيْرُ ܫܒܛ ߞߏ߲ߞ \
    ߞߏ߲ߞߏߜߍ फर फरवरी फरवरीमासः फ़र फ़रवरी फेब फेबरवरी फेब्रु फेब्रुअरी फेब्रुवारी फेब्रूवारी माहा माहाकालेञ्जु ফেব \
    ফেব্রু ফেব্রুয়ারী ফেব্রুৱারি ফেব্ৰু ফেব্ৰুৱাৰী ਫ਼ਰ ਫ਼ਰਵਰੀ ફેબ્રુ ફેબ્રુઆરી ଫେବୃଆରୀ ମାହା ମାହାକାଲେଞ୍ଜୁ பிப் பிப்ரவரி \
    గుండు ఫిబ్ర ఫిబ్రవరి ಫೆಬ್ರ ಫೆಬ್ರವರಿ ഫെബ്രു ഫെബ്രുവരി පෙබ පෙබරවාරි กพ กุมภาพันธ์ ກພ ກຸມພາ ཟླགཉིསཔ ཟླབགཉིསཔ \
    སྤྱིཟླགཉིསཔ ဖေ ဖေဖော်ဝါရီ თებ თებერვალი ለካ ለካቲት ከተተ ካብኽ ካብኽብቲ ፌብ ፌብሩ ፌብሩወሪ ፌብሩዋሪ ᐸᐚᐦᒐᑭᓇᓰᐢ ᕕᕝᕗᐊᓕ កុម្ភៈ ᠬᠣᠶᠠᠳᠣᠭᠠᠷᠰᠠᠷᠠ \
    ᱯᱷᱟ ᱯᱷᱟᱨᱣᱟᱨᱤ ⴱⵕⴰ ⴱⵕⴰⵢⵕ 二月 ꑍꆪ ꕒꕡ ꕒꕡꖝꖕ ꭷꭶ ꭷꭶꮅ 𐑁𐐯𐐺 𐑁𐐯𐐺𐑉𐐭𐐯𐑉𐐨 𐑓𐑧 𐑓𐑧𐑚𐑘𐑵𐑢𐑺𐑰 𐓨𐓣𐓪𐓬𐓘𐓷𐓟𐓵𐓪𐓬𐓘 𐓵𐓪𐓬𐓘 𑄜𑄬𑄛𑄴 𑄜𑄬𑄛𑄴𑄝𑄳𑄢𑄪𑄠𑄢𑄨 𞄛𞄨𞄱𞄄𞄤𞄲𞄨 𞤷𞤮𞤤 \
    𞤷𞤮𞤤𞤼𞤮
    """,
    """
    adar adr ammart arɛcikakaŋɔrɔ atat bitootessa bre brezen brezna cig ciggiltakudo cki cokcwaklii dad damars dat demar \
    demarc demarso demarzo demarzu demerz dhenmhart dimarzu duɔɔ duɔɔŋ dwemaradek hashiʼatochchiʼnaʼ hlak hlakubele \
    hywanatat imegmbəŋchubi indlovulenkhulu istawichayazaŋwi jasyapy kad kat keenda kiptaamo kov kovas kovo kst kul \
    kurume kʉkeenda lapaleokuni lus lusolo maachi maalis maaliskuu maaliskuuta maarso maart maarts maaz mac mach machi \
    maehe maerz mal malaki malichi mar marc marca march marcius marco marec maret maris marisi mars marsi marsip marso \
    marsu mart marta marte martie martii martio martius marto marts martsa martxoa martzu marz marze marzec marzo marzu \
    mashi matshe matshi matumb mawrth mayrnt mazul maʻa maʻasi mba mbangu mbimbitho mbiyɔmɛndoŋgɔ mbo mbooy mer merc \
    merca merz meu meur meurzh meɣ meɣres mismeurth mop mopitlo morighwakadadu mrt msh msi musapiri mushende \
    mwaiwakatatu mwediwatatu mwerewagatatu mweriwakatatu mweriwakathatu mweriwouneraru ndwensam ndzɔŋɔtɨdʉgha ngl \
    ngwɛnnlal ngɔnlala njuhca njuhcamaanu njuk njukcamannu ntwarante nyenyankulu okwakashatu okwamg oshuɛrɛna osuerena \
    otsokrikri ozu ozujak ozujka pagu pagulenju pamwedzigwawudatu penatat pul pulis pɛsaŋpɛtat sanzayamisato \
    saŋlepyeshum sɔŋ sɔŋɛ tasahcuce ted tedoxe thafamuhwe thf truidas tsa tɨd ube umatjhi vol wanit wer werurwe wgt \
    zwattsat ŋwiiakǝraa ǀkhuuǁkhab ɔbɛnem ɔnsumbɔlooliukatatuɛ ɔɛn ɔɛnɨɔɨŋɔk μαρ μαρτιος μαρτιου бер березень березня \
    гуравдугаарсар клн кулунтутар мар март марта мартъ мартъи мартъииы маⷬ҇ нау наурыз пуш сак сакавік сакавіка \
    хəажəкыра хəажә эиз эизюрков մարտ մարտի մրտ מערץ מרץ آذار أذار ئازار مار مارت مارس مارٕچ مارچ مَر مَرِسْ مچ ناۋرىز \
    ܐܕܪ ߕߙߊ ߕߙߊߓߊ पागु पागुणीलेञ्जु मार्च मार्चमासः मार्चु মার মার্চ মাৰ্চ ਮਾਰਚ માર્ચ ପାଗୁ ପାଗୁଣିଲେଞ୍ଜୁ ମାର୍ଚ୍ଚ மார் \
    மார்ச் మార్చి హిరెఇ ಮಾರ್ಚ್ മാർ മാർച്ച് මාර් මාර්තු มีค มีนาคม ມນ ມີນາ ཟླགསུམཔ ཟླབགསུམཔ སྤྱིཟླགསུམཔ မတ် მარ მარტი መገበ \
    መጋ መጋቢት ማርች ክብላ ᒥᑭᓯᐏᐲᓯᒼ ᒫᑦᓯ មីនា ᠭᠣᠷᠪᠡᠳᠣᠭᠠᠷᠰᠠᠷᠠ ᱢᱟᱨ ᱢᱟᱨᱪ ⵎⴰⵕ ⵎⴰⵕⵚ 三月 ꌕꆪ ꕾꖺ ꭰꮕ ꭰꮕᏹ 𐑋𐐪𐑉 𐑋𐐪𐑉𐐽 𐑥𐑸 𐑥𐑸𐑗 𐓨𐓣𐓪𐓬𐓘𐓷𐓟𐓵𐓘𐓜𐓣 𐓵𐓘𐓜𐓣 \
    𑄟𑄢𑄴𑄌𑄧 𞄒𞄫𞄰𞄒𞄪𞄱 𞤲𞤦𞤮𞥅𞤴 𞤲𞤦𞤮𞥅𞤴𞤮
    """,
    """
    abr abrell abriil abril abrile abrille abriu aburil abɛibe afi afirilu afɔ afɔfie agd agdabaxis aib aibrean anas \
    angiblean ape apereira aperira api apirila apiriri apl aplili aporele apr aprel aprell aprels apriili apriilip april \
    aprila aprile aprili aprilie aprilis aprill aprilo aprily aprilyi apryl apryla apu apuli arv arvi auri averil avr \
    avrigl avril avrril awi awiril awirili awr awril bal balandis balandzio che cuaŋui cuaŋuimaanu cuo cuoŋ cuoŋomannu \
    dabr dabril dan daprile darv darvi dauri davrigl dhenghiblean diɓ diɓaɓa doy dub duben dubna dun dwemarangwen dzi \
    dzivamisoko ebr ebrel ebrill eebila elb eph ephreli epr epreel eprel epreli epreo epril epu epulo fiimarfoo fmf gibl \
    guak hashnihtiˀtiˀ hire hirelenju huhti huhtikuu huhtikuuta hywananaai ibr ibrir iiplal ikumi iməgngwət ipu ipuru \
    irudi iwo iwootkuut jasyrundy kkn kub kubvumbi kwi kwiecien kwieciyn kwietnia kwiikumi lambamai lapaleongwan mab \
    mabasa mata matop mesiŋooliukenie misebrel mme mmesa mora moranang morighwakana mto mun munyi muu muuya mwaiwakana \
    mwediwanchechi mwerewakana mweriwakaana mweriwakana mweriwounecheshe ndamukiza ndwenseiq ndzɔŋɔtaafʉgha ngn ngu \
    ngubue ngwɛnnna ngɔnnyina nis nisan njɩbɔnɖʊkakaŋɔrɔ nsn nyɔlɔmbɔŋgɔ odungel oforisuo okwakana olodoyiorieinkokua \
    ong oshuigbe osuigbe pamwedzigwawutai penanas phezithowi pri prill prilul prl pɛsaŋpɛnɛkwa sak sakkis sanzayaminei \
    saŋcyo seeɗto spatidas spi tai tasahcerakko tra travanj travnja uapreli wkn yebril yebrir zwatnyai ŋwiiakǝnin \
    ǃhoaǂkhaib ʻap ʻapelila ʻepe ʻepeleli απρ απριλιος απριλιου ака апр апрел апрелы апрель апреля април а҆прілліа \
    а҆прілліи а҆пⷬ҇ дөрөвдүгээрсар квіт квітень квітня кра красавік красавіка мсу муусустар мшаԥы сәу сәуір чад чадыков \
    ապր ապրիլ ապրիլի אַפּר אַפּריל אפר אפריל ءساۋىر آوریل آڤریل أبريل أفريل أَڢْر أَڢْرِلُ إبريل ئاپرېل اپر اپريل اپریل \
    اپرێل اڤريل نيسان نیسان ܢܝܣܢ ߞߏ߲ߘ ߞߏ߲ߞߏߘߌ߬ߓߌ अप्रिल अप्रेल अप्रै अप्रैल अप्रैलमासः एप्रि एप्रिल एप्री एप्रील \
    हिरेलेञ्जु हिर्रे এপ্রি এপ্রিল এপ্ৰিল ਅਪ੍ਰੈ ਅਪ੍ਰੈਲ એપ્રિલ ଅପ୍ରେଲ ହିରେ ହିରେଲେଞ୍ଜୁ ஏப் ஏப்ரல் ఏప్రి ఏప్రిల్ బెసెకి \
    ಏಪ್ರಿ ಏಪ್ರಿಲ್ ഏപ്രി ഏപ്രിൽ අප්රේල් เมย เมษายน ມສ ເມສາ ཟླབབཞིཔ ཟླབཞིཔ སྤྱིཟླབཞིཔ ဧပြီ აპრ აპრილი ሚያ ሚያዝያ አኀዘ ኤፕረ ኤፕረል \
    ኤፕሪ ኤፕሪል ፋጅኺ ፋጅኺሪ ᐊᐃᑉᐳᓗ ᓂᐢᑭᐲᓯᒼ មេសា ᠳᠥᠷᠪᠡᠳᠥᠭᠡᠷᠰᠠᠷᠠ ᱟᱯᱨ ᱟᱯᱨᱮᱞ ⵉⴱⵔ ⵉⴱⵔⵉⵔ 四月 ꇖꆪ ꖢꖕ ꭷꮼ ꭷꮼꮒ 𐐩𐐹𐑉 𐐩𐐹𐑉𐐮𐑊 𐑱𐑐 𐑱𐑐𐑮𐑭𐑤 \
    𐓨𐓣𐓪𐓬𐓘𐓷𐓟𐓰𐓪𐓬𐓘 𐓰𐓪𐓬𐓘 𑄃𑄬𑄛𑄳𑄢𑄨𑄣𑄴 𞄤𞄨𞄱 𞤧𞤫𞥅𞤼 𞤧𞤫𞥅𞤼𞤮
    """,
    """
    acafʊnɖukakaŋɔrɔ agb agbiɛnaa anceitean apf atyo beal bealtaine bel belawu bese beselenju boaldyn caamsaa cam cax \
    caxahalsa ceit chaŋwapethowi chivabvu chv dah dam damatg dame dema demai demaig demayo demayu demaz demazzo \
    dhencheitean dimaghju dua duat duu duujal dwemarabich emiasele ensilooliukatanuɛ gat geg geguze geguzes gic gicurasi \
    gln gulan hashnihhaˀimay hywanapfwon ime iməgfog inkhwekhweti inyambala jasypo kehvse ktn kve kveten kvetna \
    kwiinyambala kɔtɔnimma lapaleimet lep lum lumungulu maaie maaji maajip maayi maayo madǝǝuutǝbijaŋ mag maggio maghju \
    mai maiatza maig maii maijs maio maiu maius maj maja majo majs maju majus mamuut masg matg may mayo mayu mayul mayyu \
    mayıs mazzo mee mei meije mej meja meje mejju mey meyi mies miessemannu mih mii misme moja morighwakasanu mot \
    motsheanong motsheganang mpu mpuyɛ mudyaxihi mushendemagali mwaiwakatano mwediwannyano mwerewagatano mweriwagatano \
    mweriwatanu mweriwounethanu mɔnɔŋgbanja ndwenngux ndzɔŋesee ngt ngwɛnntan ngɔntana nkh nkw nkwenkwezi okwakataana \
    oloilepunyieinkokua omaruk oshuɛbibi osuebibi pamwedzigwawuhanu penatyon pɛsaŋpataa rii rimaidas rusama \
    sanzayamitano saŋtsɛɛcyo shu shundunthule svi svibanj svibnja touko toukokuu toukokuuta tsw vyesi vyesimaanu wtn zal \
    zallaws zwattswon ŋwiiakǝtaan ǃkhaitsab μαι μαιος μαιου лаҵ лаҵара маи маиы мам мамыр мая маіа маіи мај маꙵ пан \
    панжиков тавдугаарсар тра трав травень травня трауня ыам ыамыиа ыамыиын մայիս մայիսի մյս מאי מיי أيار ئایار مئ مئي \
    مئی مئیی مامىر ماي مايو مه مهٔ مي مَي مَيُ می مۍ ܐܝܪ ߘߓߊ߬ߕ ߘߓߊ߬ߕߊ बेसे बेसेलेञ्जु मई मईमासः मे मेई মে ਮਈ મે ବେସେ \
    ବେସେଲେଞ୍ଜୁ ମଇ மே మే లండి ಮೇ മേയ് මැයි พค พฤษภาคม ພພ ພຶດສະພາ ཟླབལྔཔ ཟླལྔཔ སྤྱིཟླལྔཔ မေ მაი მაისი ሜይ ክቢቅ ክቢቅሪ ጉንበት ግን \
    ግንባት ᐊᓃᑭᐲᓯᒼ ᒪᐃ ឧសភា ᠲᠠᠪᠣᠳᠣᠭᠠᠷᠰᠠᠷᠠ ᱢᱮ ⵎⴰⵢ ⵎⴰⵢⵢⵓ 五月 ꉬꆪ ꖑꕱ ꭰꮒ ꭰꮒꮝꭼꮨ 𐑋𐐩 𐑥𐑱 𐓨𐓣𐓪𐓬𐓘𐓷𐓟𐓮𐓘𐓰𐓘 𐓮𐓘𐓰𐓘 𑄟𑄬 𞄀𞄪𞄴 𞤣𞤵𞥅𞤶 𞤣𞤵𞥅𞤶𞤮
    """,
    """
    achi aki antogmhios anɔɔɖukakaŋɔrɔ ayɛwohomumu birz birzelio birzelis bracet cerven cervna chikumi chk chn choon \
    chunyo cvn cze czerwca czerwiec czy czyrwca czyrwiec dau dazercladur dechunyo dejugn dejunh dejuny dexunu dezug \
    dezugno dhenogmhios dighjugnu dwemarauchiel eka ekaina esɔ esɔpɛsɔpɛ fon fondo fulwi gamaǀaeb gan geas geassemannu \
    ghju ghjugnu giu giugno giugnu gunju hashnihtsiˀ haz haziran heziran hil hilondɛ hun hune hunyo hywanakitat hzr \
    idwaata ile iməgichiibɔd inhlaba iun iune iunie iunii iunius iyn iyun jasypotei jatta jattalenju jon jona jug jugn \
    jugno jui juin jun juna june junh junho junhu juni junie junij junija junijs junio junius juns juny junyi junyu juu \
    juun juune juuni juunip kam kamena kar kesa kesakuu kesakuuta kesi kesimaanu khotavuxika kmk kor kornyoot korse \
    kujuɔrɔk kvcohvse kwiidwaata lampadas lapaleile lipanj lipnja luf lufuimi lwi mamǝŋgwaafahbii masa mataruidas \
    meansouree meh mehefin meith meitheamh met mezh mezheven mismetheven moc mod morighwakarandadu msouree mti muj \
    mujimbi mwaiwathanthatu mwediwannyanonaumo mwerewagatandatu mweriwagatantatu mweriwasita mweriwothanunamocha \
    ndwenloeg ndzɔŋɔnzugho ngs ngwɛnntuo ngɔnsaməna nhla nju njuni nyaŋgwɛŋgbanja nzu ogmh okwamukaaga omodokkingol \
    oshuokudu osuokudu otukwajan otukwajaŋ paa paagi pamwedzigwasita penachirim phupjane puyepe pɛsaŋpɛnɛntuku qas \
    qasadirri qer qershor rok ruheshi sanzayamotoba saŋnjyolaʼ seetebosigo sgiugn sim simenis sueŋ sune suw suwe wax \
    waxabajjii wipazukhawastewi wtd xun xuno xunu yun yuni yunul yunyu zercl zercladur zin zug zugno zuw zuweŋ zuwɛn \
    zwatataah ŋwiiakǝtaafɔk ɔsɔn ιουν ιουνιος ιουνιου ашт аштемков бэс бэсыиа бэсыиын зургаадугаарсар июн июны июнь июня \
    ијн ијун мау маусым рашəара рашә черв червень червня чэр чэрвень чэрвеня юни і҆ꙋніа і҆ꙋніи і҆ꙋⷩ҇ јун јуни ҫер ҫертме \
    հնս հունիս հունիսի יוני ئىيۇن جوان جون جوٗن جوٙأن حزيران حوزەیران ماۋسىم يونيو يُون يُونِ ژوئن ܚܙܝܪܢ ߥߊ߬ߛ ߥߊ߬ߛߌ߬ߥߙߊ \
    जाटालेञ्जु जाट्टा जुन जून जूनमासः জুন ਜੂਨ જૂન ଜାଟା ଜାଟାଲେଞ୍ଜୁ ଜୁନ ஜூன் జూన్ రాత ಜೂನ್ ജൂൺ ජූනි มิถุนายน มิย ມິຖ \
    ມິຖຸນາ ཟླདྲུགཔ ཟླབདྲུགཔ སྤྱིཟླདྲུགཔ ဇွန် ივნ ივნისი ምት ምኪኤልትጟኒሪ ሠንየ ሰነ ጁን ᐚᐏᐲᓯᒼ ᔫᓂ មិថុនា ᠵᠢᠷᠭᠣᠭᠠᠳᠣᠭᠠᠷᠰᠠᠷᠠ ᱡᱩᱱ ⵢⵓⵏ \
    ⵢⵓⵏⵢⵓ 六月 ꃘꆪ ꖱꘋ ꮥꭽ ꮥꭽꮇᏹ 𐐾𐐭𐑌 𐑡𐑵 𐑡𐑵𐑯 𐓨𐓣𐓪𐓬𐓘𐓷𐓟𐓯𐓘𐓬𐓟 𐓯𐓘𐓬𐓟 𑄎𑄪𑄚𑄴 𞄛𞄤𞄱𞄞𞄤𞄦 𞤳𞤮𞤪 𞤳𞤮𞤪𞤧𞤮
    """,
    """
    aasadi aasadilenju ado adoolessa alalakakaŋɔrɔ antiuchar atar aty cervence cervenec chaŋphasapawi chg chikunguru chl \
    choola chulai chuliol cul cvc dafanadur dao dechuliol dejul dejulhet dejuliol delug deluggio demesse dexunetu \
    dheniuchar dilugliu dum dwemarabiriyo efute empituidas fan fanadur fulwana giugnettu gnt gor gorff gorffennaf goue \
    gouere hei heina heinakuu heinakuuta heiwet hiyuce hul hulyo hur hurae hywanatyirin iməgadumbəŋ iuch iuil iul iulai \
    iulie iulii iulius iyl iyul jasypokoi jerreysouree jolai jolay jsouree juil juill juillet jul jula julaayi julae \
    julai julayi julhet julho julhu juli julie julij julija julijs julio juliol julius juls july julyai julyu jur juriol \
    juule juuli juulip kab kabalashipu kholwane kms korr korrik kutawonsa kuŋgwɛ kʉmʉʉnchɨ lapalesapa len lengua liep \
    liepa liepos lipa lipca lipiec lug luggio luglio lugliu luj lujo lul lulju luulyo lwa maawɛ madiɓɛdiɓɛ mamǝŋgwaalii \
    mawuwani messe misgortheren mli moo morighwamfungade morso morusasin mose msp mug mukakaro mushipepo mwaiwamuonza \
    mwediwannyanonamivili mwerewamugwanja mweriwamugwanja mweriwasaba mweriwosaba mʉʉnchɨ nasˀahˀatsus ndwencaet \
    ndzɔŋɔdumlo ngeiyeet ngwɛnhɛmbuɛri ngz ngɔnzamgbala nje njeba njr njurai ntu ntulikazi ojola okwamushanju oshuagɛmɔ \
    osuagemo pamwedzigwasaba payyietni penatariba phu phukwi phupu pumukui pɛsaŋsaamba qad qadodirri sab sanzayansambo \
    sas saŋtyɛbtyɛbmbʉŋ sia siamlɔm siu siulai srpanj srpnja sul sulet suoi suoidnemannu suuyee syeini syeinimaanu tem \
    temmuz tirmeh triulas trm upu uzt uztaila wmj xnt xul xullo xunetu yul yuli yulul yulyu yulyuz zil zilye zul zuluye \
    zuy zuyye zwatanatat ŋwiiakǝtaabɛɛ ǂkhoesaob ιουλ ιουλιος ιουλιου долоодугаарсар июл июлы июль июля ијл ијул лип \
    липень липня ліп ліпень ліпеня мед медьков оти отыиа отыиын ута шіл шілде юли і҆ꙋліа і҆ꙋліи і҆ꙋⷧ҇ јул јули ԥхынгəы \
    ԥхынгә հլս հուլիս հուլիսի יולי ئىيۇل تموز تەمووز جول جولاءِ جولائی جولاي جولای جويلية جوٗلایی جوٙلا جُلَے جۆل جۆلایی \
    شىلدە يوليو يوليوز يُول يُولِ ژوئیه ژوئیهٔ ܬܡܘܙ ߞߊ߬ߙ ߞߊ߬ߙߌߝߐ߭ आसाड़ी आसाड़ीलेञ्जु जु जुल जुलय जुला जुलाई जुलाईमासः \
    जुलै জুল জুলা জুলাই ਜੁਲਾ ਜੁਲਾਈ જુલાઈ ଆସାଡ଼ି ଆସାଡ଼ିଲେଞ୍ଜୁ ଜୁଲାଇ ஜூலை జులై బాన్దపాణా ಜುಲೈ ജൂലൈ ජූලි กค กรกฎาคม ກລ \
    ກໍລະກົດ ཟླབདུནཔ ཟླབབདུནཔ སྤྱིཟླབདུནཔ ဇူ ဇူလိုင် ივლ ივლისი ሐመለ ሓም ሓምለ ኰር ኰርኩ ጁላይ ᐹᐢᑲᐦᐋᐏᐲᓯᒼ ᔪᓚᐃ កក្កដា \
    ᠲᠣᠯᠣᠭᠠᠳᠣᠭᠠᠷᠰᠠᠷᠠ ᱡᱩᱞ ᱡᱩᱞᱟᱭ ⵢⵓⵍ ⵢⵓⵍⵢⵓⵣ 七月 ꏃꆪ ꖱꕞ ꖱꕞꔤ ꭻᏸ ꭻᏸꮙꮒ 𐐾𐐭𐑊 𐐾𐐭𐑊𐐴 𐑡𐑫 𐑡𐑫𐑤𐑲 𐓨𐓣𐓪𐓬𐓘𐓬𐓟𐓵𐓪𐓬𐓘 𐓬𐓟𐓵𐓪𐓬𐓘 𑄎𑄪𑄣𑄭 𞄔𞄩𞄴𞄆𞄨𞄰 𞤥𞤮𞤪 𞤥𞤮𞤪𞤧𞤮
    """,
    """
    abu abuztua aga agast agasti aggusti aggustip ago agosetose agost agosti agosto agostu ags agt agu agusito agust \
    agusta agusti agustos agustu agustus akaas akuhata ani anlunastal aog aogositra aos aost aostu aout aoǁkhuumuǁkhab \
    arh arhostosi ari aug auguscht august augusta augusti augusto augusts augustus augusztus aus austu avg avgust avo \
    avost avq avqust avust awg awgust awgusta awst awur aww awwissu borg borgemannu bɔr dab daggis dago dagost dagosto \
    dagostu dahosikahnish daost daostu davust dea deasiamime dhenlunastal diŋ diŋgindi dwemaraboro elo elokuu elokuuta \
    eost est fɔe gst gush gusht gustul hag hagayya hik hikaŋ hiyorakko hywananinai iməgichika ingci isi jasypoapy juk \
    juko kanama kmn knn kolovoz kolovoza kukuru kǝu kʉvɨɨrɨ lapaleisiet leq leqeeni liiqen luanistyn luna lunasa lush \
    lushika madǝmbii manyawale maspatidas mha mhawuri misest morighwawunyanya mpg mupuguto mwaiwanyaanya \
    mwediwannyanonamitatu mwerewakanana mweriwakanana mweriwanane mweriwonane nan ncw ncwabakazi ndwenbet ndzɔŋɔkwifɔe \
    ngc ngm ngwɛnlɔmbi ngɔnmwom nyamavhuvhu nyandagaro oga ogas ogasiti ogasti ogo ogoost ogos ogost ogosto ogs ogus oig \
    oigste okwamunaana opedel oshuogun osuogun oug ougustus ouj oujoß pamwedzigwanane ped penawurr phato phatwe pisuyu \
    porge porgemaanu pumusapiri pɛsaŋpɛnɛfɔm roo rooptui rugp rugpjucio rugpjutis sanzayamwambe saŋmbʉŋ sie sierpien \
    sierpnia siy siyrpiyn siyrpnia srabi srabilenju srpen srpna tbx tebax thangule thoo thoor uti vɨɨrɨ wasuthuŋwi wnn \
    wun zwatarinai ŋwiiakǝtaaraa ɔlɔɨbɔrarɛ ɔsanaa ɣuc ɣucct ɣuct ɩjikǝukakaŋɔrɔ ʻaok ʻaokosi ʻau ʻaukake αυγ αυγουστος \
    αυγουστου авг август августа августы атр атырдьыхыиа атырдьыхыиын ауг аугуст а҆ѵгꙋста а҆ѵгꙋстъ а҆ѵⷢ҇ жні жнівень \
    жніуня наимдугаарсар нанҳəа нанҳә серп серпень серпня там тамыз ума умарьков ҫур ҫурла օգոստոս օգոստոսի օգս אוג \
    אוגוסט אויג אויגוסט آب آگسٽ آگوست أغسطس أغشت أوت أَغُ أَغُسْتَ ئاب ئاۋغۇست اوت اګست اگس اگست تامىز غشت ܐܒ ݢوس ߘߓߊ߬ߓ \
    ߘߓߊ߬ߓߌߟߊ अग अगस्ट अगस्त अगस्तमासः आग आगष्ट आगस्ट ऑग ऑगस्ट स्राबाँ स्राबाँलेञ्जु আগ আগষ্ট আগস্ট ওগ ওগষ্ট ਅਗ ਅਗਸਤ \
    ઑગસ્ટ ଅଗଷ୍ଟ ସ୍ରାବାଁ ସ୍ରାବାଁଲେଞ୍ଜୁ ஆக ஆகஸ்ட் ఆగ ఆగస్టు బార్సి ಆಗ ಆಗಸ್ಟ್ ഓഗ ഓഗസ്റ്റ് අගෝ අගෝස්තු สค สิงหาคม ສຫ ສິງຫາ \
    ཟླབབརྒྱདཔ ཟླབརྒྱདཔ སྤྱིཟླབརྒྱདཔ ဩဂုတ် აგვ აგვისტო ማርያ ማርያምትሪ ነሐሰ ነሓ ነሓሰ ኦገስ ኦገስት ᐅᐸᐦᐅᐏᐲᓯᒼ ᐊᐅᒡᒍᓯ សីហា ᠨᠠᠢᠮᠠᠳᠥᠭᠠᠷᠰᠠᠷᠠ \
    ᱟᱜᱟ ᱟᱜᱟᱥᱛ ⵖⵓⵛ ⵖⵓⵛⵜ 八月 ꉆꆪ ꗛꔕ ꭶꮆ ꭶꮆꮒ 𐐪𐑀 𐐪𐑀𐐲𐑅𐐻 𐑪𐑜 𐑪𐑜𐑭𐑕𐑑 𐓤𐓣𐓟𐓰𐓪𐓬𐓘 𐓨𐓣𐓪𐓬𐓘𐓤𐓣𐓟𐓰𐓪𐓬𐓘 𑄃𑄉𑄧𑄌𑄴𑄑𑄴 𞄕𞄩𞄲𞄔𞄄𞄰𞄤 𞤶𞤵𞤳 𞤶𞤵𞤳𞤮
    """,
    """
    abofʊmkakaŋɔrɔ antsultain any anyɔnyɔ bado badolenju bur bureet cab cabudanni cakc cakcamannu chaŋwapegiwi cohca \
    cohcamaanu cte ctember cut cutanbir cutenber dasettember deset desetember desetembre desetiembre desettembre \
    dhentsultain dipɔs disittembre doc dwemarochiko dzu eyl eylul fde fiidǝɓlii fulbaana fʊm gbo gunyana gwen gwengolo \
    gwn hep hepetema herbstmanet hiisikahnish hywanakumviriyin ike iln ilon iməgkud imɛŋipuɔs inyoni ira iraila \
    jasyporundy ken kep kepakemapa khu khubvumedzi kmw knd kus kushin kʉsaatʉ lapalesaal leo lewe lutongolo lwetse \
    meanfomhair meanfouyir medi mfomh mfouyir misgwynngala mngariidas mni morighwaikenda mpan mpandula munyense mvu \
    mvuka mwaiwakenda mwediwannyanonanchechi mwerewakenda mweriwakenda mweriwatisa mweriwotisa mye ndwengouj ndz ndzhati \
    ndzɔŋɔtɨfʉghadzughu ngwɛnrɛbvua ngɔnebulu njapi nyo nyɛt nyɛtɛki nze nzeri okwamwenda oshuowewe osokosokoma osuowewe \
    otowoskuce pamwedzigwatisa penshadon puirudi pɛsaŋpɛnɛpfuꞌu rugs rugsejis rugsejo ruj rujan rujna saa saatʉ \
    sanzayalibwa sat satambar sattumbar satumba saŋngwɔʼmbyɛ seb sebteembar sebtembar sebuttemba sek sektanbur sen \
    sentabr sentyabr sep sepitema sept septam septamber septambra septemba septembar septembari septembarip september \
    septembra septembre septembrie septembris septembro septhemba septiembre septimber septyembre seputemba set setembar \
    setember setembr setembre setembro setembru seteme setemere setenbre setenbru setiembre sett settembar settember \
    settembre settembru setul setyembre shad sht shtator siilto sil sillins siptimpaʼ sittembre sittemmiru slt sok spt \
    stb sult syys syyskuu syyskuuta szept szeptember sɛt sɛtanburu taraǀkhuumuǁkhab tɛɛ tɛɛr way waysu wkd wrz wrzesien \
    wrzesiyn wrzesnia zar zari zwatakubunyung ŋwiiakǝtaanin ɛbɔ σεπ σεπτεμβριος σεπτεμβριου аван балаҕаныиа балаҕаныиын \
    блҕ вер верасень верасня верасьня вересень вересня есдүгээрсар сен сент сентябр сентябры сентябрь сентября сентјабр \
    сеп септ септембар септември септемвріа септемвріи сеⷫ҇ таш таштамков цəыб цəыббра қыр қыркүиек սեպ սեպտեմբեր \
    սեպտեմբերի סעפּ סעפּטעמבער ספט ספטמבר أيلول ئەیلوول سئپتامر سبتمبر ستم ستمبر سيپٽمبر سيڤتيمبر سَت سَتُمْبَ سپت \
    سپتامبر سپتمبر سېنتەبىر سېپتمبر شتمبر شتنبر قىركۇيەك ܐܝܠܘܠ ߕߎߟߊߝߌ߲ बाॅदो बोदोलेञ्जु सतमबर सतुंबर सप्टे सप्टें \
    सप्टेंबर सित सितंबर सितंबरमासः सितम्बर सेप सेप्टेम्बर सेप्थेम्बर ছেপ্তে ছেপ্তেম্বৰ সেপ সেপ্ট সেপ্টেঃ সেপ্টেম্বর ਸਤੰ \
    ਸਤੰਬਰ સપ્ટે સપ્ટેમ્બર ବଦ ବଦଲେଞ୍ଜୁ ସେପ୍ଟେମ୍ବର செப் செப்டம்பர் అస్ర సెప్టెం సెప్టెంబర్ ಸೆಪ್ಟೆಂ ಸೆಪ್ಟೆಂಬರ್ സെപ്റ്റം \
    സെപ്റ്റംബർ සැප් සැප්තැම්බර් กย กันยายน ກຍ ກັນຍາ ཟླདགུཔ ཟླབདགུཔ སྤྱིཟླདགུཔ စက် စက်တင်ဘာ სექ სექტემბერი መስ መስከረም ሴፕቴ \
    ሴፕቴምበር ከረመ ያኸኒ ያኸኒመሳቅለሪ ᓄᒌᑐᐏᐲᓯᒼ ᓯᑎᐱᕆ កញ្ញា ᠶᠢᠰᠥᠳᠥᠭᠡᠷᠰᠠᠷᠠ ᱥᱮᱯ ᱥᱮᱯᱴᱮᱢᱵᱟᱨ ⵛⵓⵜ ⵛⵓⵜⴰⵏⴱⵉⵔ 九月 ꈬꆪ ꕢꕌ ꮪꮅ ꮪꮅꮝꮧ 𐑅𐐯𐐹 𐑅𐐯𐐹𐐻𐐯𐑋𐐺𐐲𐑉 \
    𐑕𐑧 𐑕𐑧𐑐𐑑𐑧𐑥𐑚𐑸 𐓧𐓟𐓜𐓛𐓲𐓟𐓷𐓣𐓤𐓟 𐓨𐓣𐓪𐓬𐓘𐓧𐓟𐓜𐓛𐓲𐓟𐓷𐓣𐓤𐓟 𑄥𑄬𑄛𑄴𑄑𑄬𑄟𑄴𑄝𑄧𑄢𑄴 𞄛𞄤𞄱𞄒𞄤𞄰 𞤧𞤭𞤤 𞤧𞤭𞤤𞤼𞤮
    """,
    """
    aaktopaʼ ahinime akt aktubar andamhair ant antɔŋ bio bioom chaŋwapekasnawi cim cot cotmeh damh dap dasara \
    dasaralenju deireadhfomhair dfomh dhendamhair dipha diphalane diteli dochobre doct doctober doctobre doctubre doto \
    dotober dott dottobre dwemarapar eki ekim epe epeeso fiimundaŋ fmu gis gitugutu golg golggotmannu gum gumiguru hed \
    here hyd hydref hywanswak iku imphala iməgtesiʼe imɛŋiputukooliukatiɛ inyi jasypa jerreyfouyir jfouyir kele kkm \
    ktuber ktubr kum kwiinyi laa laath lapaletomon loka lokakuu lokakuuta lungudi lɔm maxalidas mayesɛ mfumfu mishedra \
    mok mokhu morighwaikumi mph mphalane mwaiwaikumi mwediwannyanonannyano mwerewaikumi mweriwaikumi mweriwokumi mxi \
    ndwencib ndzɔŋɔghuuwelɔm nga ngberere ngwɛnwum ngɔnawom nipbaatiˀtiˀ nyukul och ochobre oct october octobre octobris \
    octombrie octubre oke oketopa oki okitoba okitobba okt oktabr okthoba okthobha oktob oktoba oktobar oktobari \
    oktobarip oktober oktobore oktobra oktobris oktobro oktohber oktoobar oktoober oktoobur oktover oktuba oktubre \
    oktuuber oktyabr okutoba okwaikumi olgisan onk onkoloolessa oshuɔwara osuowara otibar oto otober otobre otover \
    otowoskvrakko ott ottobre ottubru otubar otubr otubro otubru outubro outubru pamwedzigwakumi paz pazdziernik \
    pazdziernika penshakur pɛsaŋnɛgɛm rij rijen rijna roovvad roovvadmaanu santugaine sanzayazomi saŋtaŋatsetsaʼ shak \
    spa spal spalio spalis spallins stg swa tet tetor tib tobul tom ton tshimedzi tub tuber ukw ukwakira urr urria utt \
    uttuviru wik wim wimanet yar yarkomaa yepeputimaa zwatswag ŋwiiakǝntɛk ǂnuǁnaiseb ɔku ɔkutɔburu ɔtb ɩjicimkakaŋɔrɔ \
    ʻok ʻoka ʻokakopa ʻokatopa οκτ οκτωβριος οκτωβριου алт алтынньы аравдугаарсар жовт жовтень жовтня жьҭ жьҭаара кас \
    кастрычнік кастрычніка ожо ожоков окт октобар октомври октябр октябры октябрь октября октјабр юпа ѻ҆ктѡвріа \
    ѻ҆ктѡвріи ѻ҆кⷮ қаз қазан հոկ հոկտեմբեր հոկտեմբերի אוק אוקטובר אקט אקטאבער آڪٽوبر أكتوبر أُكْت أُكْتوُبَ ئوکتوڤر \
    ئۆكتەبىر اوکتوبر اکت اکتبر اکتوبر اکتوٗبر تشرينالأول تشرینییەکەم قازان ܬܫܪܝܢܐ ܬܫܪܝܢܩܕܡܝܐ ߞߏ߲ߓ ߞߏ߲ߓߌߕߌ߮ अकतुम्बर अक्ट \
    अक्टबर अक्टू अक्टूबर अक्टोबर अक्तू अक्तूबर अक्तूबरमासः आक्टोबर ऑक्टो ऑक्टोबर दसारालेञ्जु दासारा অক্টো অক্টোঃ অক্টোবর \
    অক্টোবৰ ওক্টো ওক্টোবর ਅਕਤੂ ਅਕਤੂਬਰ ઑક્ટો ઑક્ટોબર ଅକ୍ଟୋବର ଦାସାରା ଦାସାରାଲେଞ୍ଜୁ அக் அக்டோபர் అక్టో అక్టోబర్ దివెడి ಅಕ್ಟೋ \
    ಅಕ್ಟೋಬರ್ ഒക്ടോ ഒക്ടോബർ ඔක් ඔක්තෝබර් ตค ตุลาคม ຕລ ຕຸລາ ཟླབཅུཔ ཟླབབཅུཔ སྤྱིཟླབཅུཔ အောက် အောက်တိုဘာ ოქტ ოქტომბერი መተሉ \
    ኦክተ ኦክተውበር ኦክቶ ኦክቶበር ጠቀመ ጥቅ ጥቅምቲ ᐆᑦᑑᕝᕙ ᐱᓈᐢᑯᐏᐲᓯᒼ តុលា ᠠᠷᠪᠠᠳᠣᠭᠠᠷᠰᠠᠷᠠ ᱚᱠᱴ ᱚᱠᱴᱚᱵᱟᱨ ⴽⵜⵓ ⴽⵜⵓⴱⵔ 十月 ꊰꆪ ꕭꖃ ꮪꮒ ꮪꮒꮕꮧ 𐐱𐐿𐐻 \
    𐐱𐐿𐐻𐐬𐐺𐐲𐑉 𐑷𐑒 𐑷𐑒𐑑𐑴𐑚𐑸 𐓧𐓟𐓜𐓛 𐓨𐓣𐓪𐓬𐓘𐓧𐓟𐓜𐓛 𑄃𑄧𑄇𑄴𑄑𑄬𑄝𑄧𑄢𑄴 𑄃𑄧𑄇𑄴𑄑𑄮𑄝𑄧𑄢𑄴 𞄪𞄱𞄀𞄤𞄴 𞤴𞤢𞤪 𞤴𞤢𞤪𞤳𞤮
    """,
    """
    acapomkakaŋɔrɔ ade adeɛmekpɔxe ale alemle antsamhain aza azaroa danovember denov denovember denovembre denoviembre \
    depayares dgi dhentsamhain diba dinuvembre divi divilenju dwemargiachiel ehole fgw fiigwahlle huk hukuri \
    hywanswakbayrnig ikm imw iməgzo jasypatei jolal kaa kaswekese kasım kipsuundenetaai kmj knk kpt kʉsaano lab lap \
    lapaletomonobo lapkr lapkricio lapkritis lapkrutis lar lara listopadu lweti lwezi makandikɛ marras marraskuu \
    marraskuuta maxalkingalidas mayɛsep mbu mbudzi meehouney mhouney mijdar misdu mjd morighwaikuminaimweri munyonyo mus \
    musongandembwe mwaiwaikuminaimwe mwediwannyanonannyanonau mwerewaikuminaumwe mweriwaikuminamoja mweriwaikuminaumwe \
    mweriwokuminamoja mxk nab naba nabanduru naw nawambar ndwencibit ndzɔŋɔchwaʔakaawo nen nentor ngad ngw ngwanatsele \
    ngwɛnwumnavur ngɔnawomaidzia nipbaahaˀimay nob nobemba nobyembre noe noema nof nofember nofemere nofimpaʼ noiembrie \
    noo noofeembar noowanbur nop nopember nov novam novamber novambra novema novemba novembar novembari novembarip \
    november novembr novembra novembre novembris novembro novembru noveme novenbre noviembre novimber novul now nowambar \
    nowanburu nowemapa nowember nowembra noy noyabr nun nunember nuv nuvembre nuvemmiru nuvenbru nuw nuwamba nuwanbir \
    nuwember nvb nwa nwanbir obubuo okwaikuminakumwe olabor oshubelu osubelu pamwedzigwakuminamoja payares penkurnaba \
    pom pudungwana pun pɛsaŋntsɔpmɔ pʉshʉka saano sadaasa samh samhain santandria sanzayazominamɔkɔ saŋmejwoŋo sby shʉ \
    skab skabmamannu skamma skammamaanu sta stu studeni studenoga tach tachwedd tin tinini ugu ugushyingo usi \
    usinyikhaba wam waniyetuwi win wintermanet wmw xim ximoli yepeyepe zwatmangjuwang ŋwiiakǝntɛkdibɔk ǀhooǂgaeb νοε \
    νοεμβριος νοεμβριου абҵ абҵара арваннэгдүгээрсар лист листопад листопада ліс лістапад лістапада нов новембар ное \
    ноември ноемвріа ноемвріи ноеⷨ ноя нояб ноябр ноябры ноябрь ноября ној нојабр сун сундерьков сэт сэтинньи чук қар \
    қараша նոյ նոյեմբեր նոյեմբերի נאוו נאוועמבער נוב נובמבר تشرينالتاني تشرينالثاني تشرینیدووەم قاراشا نئوم نئومبر \
    نوامبر نوفمبر نوم نومبر نونبر نويابىر نوڤامر نوۏيمبر نُو نُوَمْبَ ܬܫܪܝܢܐܚܪܝܐ ܬܫܪܝܢܒ ߣߍߣ ߣߍߣߍߓߊ दिवी दिवीलेञ्जु नव \
    नवं नवंबर नवंबरमासः नवमबर नवम्बर नवूमबर नवे नवेम्बर नो नोभेम्बर नोव्हें नोव्हेंबर নবেম্বর নভে নভেঃ নভেম্বর নৱে \
    নৱেম্বৰ ਨਵੰ ਨਵੰਬਰ નવે નવેમ્બર ଦିୱି ଦିୱିଡ଼ିଲେଞ୍ଜୁ ନଭେମ୍ବର நவ நவம்பர் నవం నవంబర్ పాండు ನವೆಂ ನವೆಂಬರ್ നവം നവംബർ නොවැ \
    නොවැම්බර් พย พฤศจิกายน ພຈ ພະຈິກ ཟླབཅུགཅིགཔ ཟླབབཅུགཅིགཔ སྤྱིཟླབཅུགཅིགཔ နို နိုဝင်ဘာ ნოე ნოემბერი ሕዳ ሕዳር ምም ምኪኤልመሽወሪ \
    ኀደረ ኖቬም ኖቬምበር ᐋᕽᐘᑎᓄᐏᐲᓯᒼ ᓄᕕᐱᕆ វិច្ឆិកា ᠠᠷᠪᠠᠨᠨᠢᠭᠡᠳᠥᠭᠡᠷᠰᠠᠷᠠ ᱱᱟᱣ ᱱᱟᱣᱟᱢᱵᱟᱨ ⵏⵓⵡ ⵏⵓⵡⴰⵏⴱⵉⵔ 十一月 ꊯꊪꆪ ꔞꘋ ꔞꘋꕔꕿꕸꖃꗏ ꮕꮣ ꮕꮣꮥꮖ 𐑌𐐬𐑂 \
    𐑌𐐬𐑂𐐯𐑋𐐺𐐲𐑉 𐑯𐑴 𐑯𐑴𐑝𐑧𐑥𐑚𐑸 𐓘𐓧𐓣𐓷𐓣𐓸𐓲𐓣 𐓨𐓣𐓪𐓬𐓘𐓘𐓧𐓣𐓷𐓣𐓸𐓲𐓣 𑄚𑄧𑄞𑄬𑄟𑄴𑄝𑄧𑄢𑄴 𞄚𞄦𞄲𞄤𞄚𞄄𞄰𞄫 𞤶𞤮𞤤 𞤶𞤮𞤤𞤮
    """,
    """
    abendua afu afuabe andubhlachd anɔɔbʊnkakaŋɔrɔ aralık avi aviento avientu berfanbar bow bowte brf bʊn \
    chaykahdaytiˀtiˀ chr christmanet cis ciswa dadecember das dasambar daviento davientu dec decembar decembari \
    decembarip december decembra decembre decembrie decembris decembro dedecembre dedes dedesembre dedex dedexembre \
    dedez dedezember dee deesanbur dek dekabr dekul des desam desambar desambra desanburu desemba desember desembre \
    deseme desimber det dets detsember dex dexembre dez dezamber dezember dezembr dezembro dezembru dezenbre \
    dhendubhlachd dhj dhjetor dic dicemba dicembar dicember dicembre dicembru dicemmiru diciembre didicembre dis disamba \
    disambar diseembar disemba disember disemere disyembre diz dizenbru dsb dubh dug dugember duj dujanbir dujember \
    dwemarapargiariyo dzm dzome ela elaŋgɛ fiiyuru fwo fyu gru grudnia grudzien grudziyn gruod gruodis gruodzio \
    hoasoreǁkhab hywanswakbahwa igi ikl iməgkrizmed ingongoni iwi jasypakoi joulu joulukuu joulukuuta juov juovla \
    juovlamaanu juovlamannu kak kakauka kax kaxxagarablu kek kekemapa kerzu kev kigarama kipsuundeneboaeng kmb knb kris \
    krisimin kzu kʉsasatʉ lapaletomonwaare libuylinyee liɓ manth maxaldhaidas meenynollick miskevardhu mnollick \
    morighwaikuminaiwi mpal mpalakazi mudde muh muhaano mwaiwaikuminaili mwediwannyanonannyanonam mweriwaikuminakairi \
    mweriwaikuminambili mweriwokuminayelli mxd nad nadale nata ndithemba ndwencibngeih ndzɔŋefwoo ngab ngɔnawomaibɛ noll \
    nollaig ntʉ ntʉŋʉs nwendzamhala nyendavhusiku okwaikuminaibiri opoo oshuɔpɛ osuope pamwedzigwakuminambili pande \
    pandelenju penkurnatat pilɔndɔ poo pro prosinac prosinca prosince prosinec pɛsaŋntsɔppa rhag rhagfyr rvforakko sal \
    sallaws sanzayazominamibale sasatʉ saŋlum sbh sed sedimonthole thahekapsuŋwi tid tih tihema tiisimpaʼ tiopindiit \
    tisema tow tshitwe uku ukuboza yel yepemukui zvi zvita zwatswagmasuyang ŋwiiakǝntɛkdibɛɛ ɓulɓusɛ ɔpɛnimma δεκ \
    δεκεμβριος δεκεμβριου арванхоердугаарсар ахс ахсынньы аца ацамков груд грудень грудня дек декабр декабры декабрь \
    декабря декември декемвріа декемвріи дец децембар деⷦ҇ жел желтоқсан раш раштав сне снежань снежня сьн сьнежань \
    сьнежня ԥхынҷ ԥхынҷкәын դեկ դեկտեմբեր դեկտեմբերի דעצ דעצעמבער דצמ דצמבר جەلتوقسان دئسامر دجمبر دجنبر دسامبر دسم \
    دسمبر ديسمبر ديسيمبر دَسَمبَر دِس دِسَمْبَ دېكابىر كانونالأول ڊسمبر کانونییەکەم ܟܢܘܢܐ ܟܢܘܢܩܕܡܝܐ ߞߏߟ ߞߏߟߌ߲ߞߏߟߌ߲ डिसं \
    डिसंबर डिसे डिसें डिसेंबर डिसेम्बर दसमबर दसूमबर दिस दिसंबर दिसंबरमासः पान्डे पान्डेलेञ्जु ডিচে ডিচেম্বৰ ডিসে ডিসেঃ \
    ডিসেম্বর ਦਸੰ ਦਸੰਬਰ ડિસે ડિસેમ્બર ଡିସେମ୍ବର ପାଣ୍ଡେ ପାଣ୍ଡେଲେଞ୍ଜୁ டிச டிசம்பர் డిసెం డిసెంబర్ పుసు ಡಿಸೆಂ ಡಿಸೆಂಬರ್ ഡിസം \
    ഡിസംബർ දෙසැ දෙසැම්බර් ธค ธันวาคม ທວ ທັນວາ ཟླབཅུགཉིསཔ ཟླབབཅུགཉིསཔ སྤྱིཟླབཅུགཉིསཔ ဒီ ဒီဇင်ဘာ დეკ დეკემბერი ተሕሳ ተሕሳስሪ \
    ታሕ ታሕሳስ ኀሠሠ ዲሴም ዲሴምበር ᑎᓯᐱᕆ ᒪᑯᓭᑮᓭᑳᐏᐲᓯᒼ ធ្នូ ᠠᠷᠪᠠᠨᠬᠣᠶᠠᠳᠣᠭᠠᠷᠰᠠᠷᠠ ᱫᱤᱥ ᱫᱤᱥᱟᱢᱵᱟᱨ ⴷⵓⵊ ⴷⵓⵊⴰⵏⴱⵉⵔ 十二月 ꊰꑋꆪ ꖨꖕꕪꕴꗏꖺꕮꕊ ꖨꖕꗏ ꭵꮝ ꭵꮝꭹᏹ \
    𐐼𐐨𐑅 𐐼𐐨𐑅𐐯𐑋𐐺𐐲𐑉 𐑛𐑭 𐑛𐑭𐑕𐑧𐑥𐑚𐑸 𐓘𐓧𐓣𐓵𐓪𐓬𐓘 𐓨𐓣𐓪𐓬𐓘𐓘𐓧𐓣𐓵𐓪𐓬𐓘 𑄓𑄨𑄥𑄬𑄟𑄴𑄝𑄢𑄴 𑄓𑄨𑄥𑄬𑄟𑄴𑄝𑄧𑄢𑄴 𞄒𞄩𞄱𞄔𞄬𞄴 𞤦𞤮𞤱 𞤦𞤮𞤱𞤼𞤮
    """,
  ]

  /// The names whose month depends on the language.
  package static let dependentNames = """
    abe=12:eu;4:gaa aku=9:kaj,kcg;8:mi ana=7:kcg;4:kaj ara=12:tr;2:mas ata=6:kcg;3:kaj bra=6:wae;2:shi \
    dag=8:ca,prg;12:luo dip=10:tn;9:bas dit=10:aa,ssy;12:ki emi=7:trv;5:dua fer=2:co;1:tn ful=9:om;2:sg gun=9:sn;6:mt \
    han=1:mi;5:bez her=2:oc;9:wae jan=6:st jol=7:bal,mg,teo;11:ff kan=4:dav,ebu,kam;8:rn,rw kas=11:lu,tr;5:dav \
    kaw=2:dav;1:blo kel=10:ee;2:kam kho=6:ts;7:ss kol=8:hr;2:st kpa=12:kln;2:blo ktu=10:rif,shi,tzm;3:kam kuk=2:sn;8:sg \
    kur=3:sn;11:nus kwa=3:teo;1:mgh lam=6:sc;4:ve lip=7:pl,prg,szl;6:hr lis=11:cs,pl,szl;10:hr \
    listopad=11:cs,pl,szl;10:hr listopada=11:pl,szl;10:hr lui=7:fur;2:lu lun=8:ga;10:lu lut=2:pl,szl;9:lu \
    lwe=11:nd,ss;9:tn maa=5:lg,xog;7:gaa;3:ig mac=2:bas mad=5:mua;7:dua mae=3:lb,mi;5:br mai=8:trv mam=5:kln;8:mua \
    man=11:kcg;8:gaa mar=5:teo mas=3:pis,tpi,zu;12:kcg;6:ee mat=3:bas,nr,xh;4:rn,rw maw=7:ts;3:cy may=11:bas;10:dua \
    maz=3:ksh,vo;5:lij mbi=3:nd;6:mua mfu=7:dav;10:nd moj=5:szl;11:mgh mor=7:ff;4:tn mud=12:om;5:ts ngb=2:ewo;10:sg \
    nge=7:kln;9:ewo ngo=1:ewo;12:ss nhl=10:ts;6:ss nhlangula=6:nd;10:ts nya=8:kam,sn;7:rn,rw;4:kcg nyakanga=7:rw;9:rn \
    nye=12:ve;1:sg oku=10:ny;3:saq ots=2:eu;3:gaa otu=10:fur,kea,kok,seh;6:gaa out=10:gl,pt;8:mfe pay=7:nus;11:ast \
    pha=8:st,tn;1:ve rar=1:teo;3:mgh sap=9:ksh;7:saq see=4:ff;6:tn;5:agq sit=9:co,scn;6:bez srp=8:cs;7:hr sun=1:ts;6:to \
    taa=4:agq;3:kln tha=6:kam;8:ve;5:mgh tis=9:bez,mgh;12:to tob=10:vo;11:saq tri=3:trv;7:sc tsh=12:st;10:ve yan=2:ts \
    yeb=4:kab,rif;2:tzm
    """
}
