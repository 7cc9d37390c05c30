// Written by scripts/date-names from CLDR, as babel 2.18.0 has it.

extension DateNames {
  /// The names of the weekdays, Monday first.
  package static let weekdayNames = [
    """
    aaɓ aaɓnde aje alats alatsinainy alt altine arakoi ari arim astelehena ata ataasinngorneq ati atini atinni ayn aynas \
    aŋpetuwaŋzi aɖt aɖɩt aɖɩtɛnɛɛ bal bala balaza bar bazarertəsi bikuause chiposi chumatato cla comlaaɗii ctt del \
    deluain deluns dieslunae dil dilluns diluain diluns djaluna doshambeh dsm dus dusem dusenbe dush dushanba dwo dwoada \
    dyddllun dylun dzo dzoɖa ehene enhvteceskv esmaspaev etl etleeni gli glindesdi hen hetfo ijt ijumatatu isn isniin \
    isnin ittnejn jel jelhein jiec jieclat jim jtt jumaatatu jumatatu jumatatuu kin kot kotaai kpa kun kuramukajimweri \
    kuwambere lem let letnayen liduvalyatatu lin lindi lintani lit litinin llu llun llunes lolemba lon lonesc luan lun \
    lundi lundo lunedi lunes lunesdi luni lunis lunnidia luns lǝn lǝndi maanantai maanantaina maandag maantig man \
    manadagur mandag mande mane mannodat mantag mantaha mantaxtsees mantiʼ manudagur mbe mderoteekuni mei meindeg mma \
    moandei mohndaach mokɔlɔmwayambo mon monday monde mondie monite montag mos mosupologo mra mso mudel mun mundai mur \
    murakipi muramuko mus musumbhunuku musumbuluwo muv muvhuro mvfolyɛʼ mvu mvulo mɔn mɔndi mɔndɔ mɔs mɔsu nakaebarasa \
    nihikunoolempwa nja njumatatu nko nkodya ntt ntɛ ntɛnɛ ojoaje ork orwokubanza palichimo pan panadili pashahuviluha \
    pazartesi pir pirkuraha pirmadienis pirmd pirmdiena pon pondeli pondelok pondzela ponedeljak ponedeljek ponedjeljak \
    poniedziałek ponjezele pos poʻakahi pyn pyndziałek pyrmudine pzt san sanass sani sanyo seg segunda segundafeira sen \
    senen senin sig sigundafera singhgizit smba smbara som somar somwaar taatu tan tanii tat ten teneŋ \
    tgkingaljiyaxiyaxsngayan thuhai tne tsuʔukpa tung tɛɛnɛɛ umsombuluko umvulo vil vuo vuos vuossaarga vuossarga \
    waitunga wakwambililya wiixata wistsihayashuh wix wkw wuoktich wut ybo ŋgwanjaŋgumba ɔjɔaje δευ δευτερα атя атяньчи \
    атяньчистэ ашә ашәахьа базарертәси бэнидиэнньик даваа душ душанба душанбе дшб дүи дүисенбі дүишемби дүишөмбү дүш \
    дүшәмбе крс къуырисӕр оршот пан панядзелак пнⷣе пон понеделник понедельник понедељак понеділок понедјељак \
    понедѣльникъ тун тунтикун եկ երկ երկուշաբթի יוםב יוםשני מאָנטיק إثنين اثنين الاثنين التنين دو دوشمبه دوشنبه دونۍ \
    دووشەممە دُوشیمے دۇ دۇي دۇيسەنبى دۈ دۈشەنبە سومر سوموار لِت لِتِنِنْ پیر ژٔندرٕروار ژٔندٕروار ܬܪܝܢ ܬܪܝܢܒܫܒܐ ߞߐ߬ ߞߐ߬ߓ \
    ߞߐ߬ߓߊ߬ߟߏ߲ चंदिरवार च़ंदिरवार सम समबार साॅ साॅम्मा साॅम्वारा सू सूमर सो सोआर सोम सोमदिन सोमबार सोमवार सोमवासरः सोमार \
    নিংথৌকাবা সোঃ সোম সোমবার সোমবাৰ ਸੋਮ ਸੋਮਵਾਰ સો સોમ સોમવાર ସମ୍ବା ସମ୍ବାରା ସୋମ ସୋମବାର தி திங் திங்கள் నమారా సోమ సోమవారం \
    ಸೋಮ ಸೋಮವಾರ തി തിങ്കളാഴ്ച തിങ്കൾ සඳු සඳුදා วันจันทร์ ຈັນ ວັນຈັນ གཟའམིགདམར གཟའཟླབ མིར ཟླབ တနင်္လာ လာ ორ ორშ ორშაბათი \
    ሰኑ ሰኑይ ሰኖ ሰኞ ሳይኖ ᐴᓂᐊᔭᒥᐦᐁᑮᓯᑳᐤ ᓇᒡᒐᔾᔭᐅ ចន្ទ ច័ន្ទ ᠲᠠ ᠳᠠ ᠳᠠᠸᠠ ᱚᱛ ᱚᱛᱮ ⴰⵢⵏ ⴰⵢⵏⴰⵙ 周一 星期一 月曜日 週一 ꆏꊂꋍ ꆏꋍ ꗳꗡꘉ ꭴꮎꮩꮣꮙꮕꭿ ꮕꭿ ꮙꮕꭿ \
    월요일 𐑋𐐲𐑌 𐑋𐐲𐑌𐐼𐐩 𐑥𐑭 𐑥𐑭𐑙𐑛𐑱 𐓡𐓘𐓬𐓘𐓬𐓘𐓡𐓛𐓧𐓣 𑄥𑄧𑄟𑄴 𑄥𑄧𑄟𑄴𑄝𑄢𑄴 𞄈𞄦 𞤢𞥄𞤩𞤵 𞤢𞥄𞤩𞤵𞤲𞥋𞤣𞤫
    """,
    """
    aar antradienis aptamɔndi ara araapy aram asi asinas asn asteartea ata atal atalaata atalata atl aŋpetunuŋpa bed ben \
    benada bikuapta bil bin bir bithayashuh bla blaɖa chipiri chostiʼ chp chumaine cmn comzyiiɗii czi cərsənbəaxsamı \
    demairt den denschdeg denstaxtsees dha dienstag diesmartis dim dimairt dimars dimarts dingsdag dinnsdaach dinsdag \
    disdat djamars dma dyddmawrth dymeurth emarte enhvteceskvenhvyvtke ghɔ gitung hiv ijn ijumanne ine isegun isɛgun \
    ittlieta jem jemayrt jmn jnn juf jufɔ jumaane jumaine jumane jumanne kab kaw kedd kib kibxata koaeng koo krad \
    kradass kubi kuramukakawi kuwakabiri kwa kwasu labb labobedi lachiwiri lavhuvhili lesibili liduvalyanchechi \
    lwakubiri lwesb lwesibini maa maadi maakisanyo mairt maj majebaarga majebarga mak manga mangada mangal mangalwaar \
    mar mardi mardo marlunngorneq martars martedi martes marti martidia martis martz mat matesdi maw mawbaare maŋ \
    maŋŋebarga mbl mbɔɔntemvfolyɛʼ mderoteeongwan mert mertesc meu meurzh mmk mokɔlɔmwamibale mon mongllar mth \
    muanyaŋmondie murakimukui nakaare namaanli ndaaya ndy njumaine nmn ojoisegun okb ong orwakabiri otrd otrdiena \
    owokubili pahivili palichibuli pir poʻalua ravumbirhi reg regrekuraha rɛw rɛwlatni sal salasa salus salı say \
    sayshambeh sel selasa sesem sesh seshanba sib sibili singhgizngeih sis sisenbe smb ssm sɔndɔmafumaba sɔndɔməluməbɛ \
    tal talaado talaata talata tar tarata tei teisdai teisipaev ter terca tercafeira tersafera tgdhajiyaxiyaxsngayan \
    thuba tichariyo tiisdei tiistai tiistaina tir tirs tirsdag tis tisdag tiu tiusde tiuzde tiuzdee tldo tli tokigitung \
    tor torek tsuʔughɔe ttl ttlat tudel tue tuesday tun tunde tur turei tus tusite tys tysdag tysdagur ulesibili \
    ulwesibili utardine utery uto utorak utorok uum vhi wai wairi wakeli wał wałtora wir wis wisasidis wkl wto wtorek \
    wut wutora ziischtig zis zistag þri þriðjudagur ŋgwaum ɔjɔisɛgun τρι τριτη аут ауторак аҩаша вас вастаньчи \
    вастаньчистэ вто вторник вторникъ втоⷬ҇ вівторок дцг дыццӕг мягмар оптуорунньук сеисенбі сеш сешанба сешанбе сии \
    сиишемби сиш сишәмбе сшб уто уторак чәршәнбәахшамы шеиш шеишемби шинара ытл ытларикун երեքշաբթի երք եք דינסטיק יוםג \
    יוםשלישי التلاتا الثلاثاء اڱارو بۆموار تَل تَلَتَ ثلاث ثلاثاء درېنۍ سئیشمبه سئے سهشنبه سێشەممە سە سەي سەيسەنبى \
    سەيشەنبە منگل گھنآنگا ܬܠܬ ܬܠܬܒܫܒܐ ߞߐ߬ߟ ߞߐ߬ߟߏ߲ बुवार बोमवार मं मंग मंगल मंगलदिन मंगलबार मंगलवार मंगलवासरः मंगलु मंगळ \
    मंगळवार मंगळार मंगाड़ा मङ्गल मङ्गलबार मा मान्गा মঃ মঙ্গল মঙ্গলবার মঙ্গলবাৰ লৈবাকপোকপা ਮੰਗ ਮੰਗਲ ਮੰਗਲਵਾਰ મં મંગળ \
    મંગળવાર ମଙ୍ଗଳ ମଙ୍ଗଳବାର ମା ମାଙ୍ଗା ମାଙ୍ଗାଡ଼ା செ செவ் செவ்வாய் మం మంగళ మంగళవారం మాంగాడా ಮಂಗಳ ಮಂಗಳವಾರ ചൊ ചൊവ്വ ചൊവ്വാഴ്ച \
    අඟ අඟහ අඟහරුවාදා วันอังคาร ວັນອັງຄານ ອັງຄານ གཟའམིགདམར གཟའལྷགཔ མིགདམར ལྷག ဂါ အင်္ဂါ სამ სამშაბათი სმ ማቆሳኛ ማክሰ ማክሰኞ \
    ሠሉስ ሰሉ ሰሉስ ሰሊጝ ታላሸ ታላሸኖ ᓃᓱᑮᓯᑳᐤ ᓇᒡᒐᔾᔭᐅᓕᖅᑭ អង្គារ ᠮᠢᠠᠠᠮᠠᠷ ᠮᠢᠭ ᱵᱟ ᱵᱟᱞᱮ ⴰⵙⵉ ⴰⵙⵉⵏⴰⵙ 周二 星期二 火曜日 週二 ꆏꊂꑍ ꆏꑍ ꕚꕞꕚ ꮤꮅ ꮤꮅꮑ ꮤꮅꮑꭲꭶ \
    화요일 𐐻𐐭𐑆 𐐻𐐭𐑆𐐼𐐩 𐑑𐑵 𐑑𐑵𐑟𐑛𐑱 𐓡𐓘𐓬𐓘𐓷𐓟𐓵𐓪𐓬𐓘 𑄟𑄧𑄁𑄉𑄧𑄣𑄴 𑄟𑄧𑄁𑄉𑄧𑄣𑄴𑄝𑄢𑄴 𞄆𞄨𞄰 𞤥𞤢𞤦 𞤥𞤢𞤱𞤦𞤢𞥄𞤪𞤫
    """,
    """
    aha ahad akr akras ala alaarba alaba alar alarba alarbay alarobia alr ara araba ararundy arb arbaco arbaqa arbc \
    asteazkena aŋpetuyamni bikuausio bud budh budhvar budhwaar car carsamba carsem carsenbe cead cha charshambeh chitatu \
    chor chorshanba cht chumatano cko cmt comkolle csm cərsənbə dahohayashuh deceadaoin dic diciadain diesmercurii \
    dimecres dimercles diɔk diɔklatni djarason dme dyddmercher dymerher emerkure ennvrkvpv erb gask gaskavahkku gtu har \
    hid ijtn ijumatano ine jerc jercean jtn jumaatano jumataano jumatano jumatanu jumatanɔ kad keskiviikko keskiviikkona \
    kolmapaev kos koskoho koskokko kosomok kua kuartafera kuramukakadadu kusa kuwagatatu kuz kuzass kuɖ kuɖa laboraro \
    labr lachitatu lar laraba larba larbeɛ lavhuraru lerbgħa lesithathu lesitsatfu liduvalyannyano lwakusatu lwesithathu \
    mac macordi mderoteeinet mer merc mercoldi mercoledi mercore mercores mercredi mercui mercurdi mercuri mercuridi \
    mercuridia mercuris mercʼher merkredi merkredo mesemna met mettwoch metukpiapɛ metwoch mhr middeweken mie miercoles \
    miercres miercuri miercus mik mikudagur mit mittwoch mittwuc mittwuch miy miyerkules mið miðvikudagur mms \
    mokɔlɔmwamisato mst muk mukɔsu murakimusapiri mɛk mɛkrɛdi mɛrkɛrɛdi nakauni namararu ndangu ndg nje njeslaare \
    njumatana njumatano nmt ojoru oks ons onsdag orwakashatu owokusatu pahidatu palichitatu pin pingasunngorneq poʻakolu \
    puda pudara pul pulelulu pus pussisawaiti qua quarta quartafeira rab rabu rabuq rar ravunharhu reb rebo rob roobii \
    roowe row shɔ singhgizsam sit sithathu sml sre sreda sri srijeda srj srjeda srjoda sro sroda str streda strzoda sze \
    szerda sɔndɔmafumalal sɔndɔməluməlɛ taano tad tan tat teg tegtukuraha tgtrujiyaxiyaxsngayan tha thutu tichadek \
    treciadienis tresd tresdiena tresdine tri trinde tru tsa tsamkasuwa tsan tsetsɛɛlyɛʼ tsuʔutɔmlo tɔm ulwesithathu uni \
    vedel wakatatu wed wednesday weedensdai wen wenerei wenesde wenezde wenezdee wet wethatu winstiʼ woansdei woensdag \
    wtu wuk wukuada wunstaxtsees wɛnɛsɛdɛ ŋge ŋgwaŋge ɔjɔru τετ τεταρτη ахаша кун куншкачи куншкачистэ кха кхаара лхагва \
    сер серада середа сре среда сри сриједа сряда срⷣе сэрэдэ сәр сәрсенбі сәршемби чор чоршанба чоршанбе чшб чәр \
    чәршәмбе чәршәнбә шарш шаршемби юнкун ӕрт ӕртыццӕг չորեքշաբթի չրք չք יוםד יוםרביעי מיטוואך أربعاء اربع الأربعا \
    الأربعاء بدھ بودوار بُدھ رابو سا سار سارسەنبى لَر لَرَبَ ٻدھ څلرنۍ چا چار چارشمبه چارشیمے چارشەنبە چهارشنبه \
    چوارشەممە ܐܪܒܥ ܐܪܒܥܒܫܒܐ ߞߎ ߞߎߣ ߞߎߣߎ߲ߟߏ߲ पुद्दारा पू पूदा बु बुध बुधदिन बुधबार बुधवार बुधवासरः बु॒ध बोदवार ॿुधर বুঃ \
    বুধ বুধবার বুধবাৰ য়ুমশকৈশা ਬੁੱਧ ਬੁੱਧਵਾਰ બુ બુધ બુધવાર ପୁ ପୁଦା ପୁଦାରା ବୁଧ ବୁଧବାର பு புத புதன் బుధ బుధవారం వుదారా ಬುಧ \
    ಬುಧವಾರ ബു ബുധനാഴ്ച ബുധൻ බදා බදාදා วันพุธ ພຸດ ວັນພຸດ གཟའཕུརབུ གཟའལྷགཔ ཕུར ལྷགཔ ဗုဒ္ဓဟူး ဟူး ოთ ოთხ ოთხშაბათი ለጓ \
    ለጓወሪለብዋ ረቡ ረቡዕ ራብዕ አሩዋ ኣረር ኣረርባዓ ᐋᐱᐦᑕᐘᐣ ᐱᖓᑦᓯᖅ ពុ ពុធ ᡀᠠ ᡀᠠᠭᠪᠠ ᱥᱟᱹ ᱥᱟᱹᱜᱩᱱ ⴰⴽⵕ ⴰⴽⵕⴰⵙ 周三 星期三 水曜日 週三 ꆏꊂꌕ ꆏꌕ ꕉꕞꕒ ꮶꭲ ꮶꭲꮑ \
    ꮶꭲꮑꭲꭶ 수요일 𐐶𐐯𐑌 𐐶𐐯𐑌𐑆𐐼𐐩 𐑢𐑧 𐑢𐑧𐑙𐑟𐑛𐑱 𐓡𐓘𐓬𐓘𐓷𐓟𐓵𐓘𐓜𐓣 𑄝𑄪𑄖𑄴 𑄝𑄪𑄖𑄴𑄝𑄢𑄴 𞄗𞄄𞄤𞄰𞄦 𞤲𞤶𞤫𞤧𞤤𞤢𞥄𞤪𞤫 𞤶𞤫𞤧
    """,
    """
    aimisa akw akwas ala alaamisi alaamɩshɩ alahamisi alak alakamisy alam alamiisi alamisa alh alhamiisa alhamis \
    alhamisi alm alx alxamis amh amhad ara arahamisi aramisay aramisi aramithi arapo arm ars art aŋpetutopa bikuaoku \
    birestar bre cam camus caturtdine cet cetrtek ceturtd ceturtdiena cetvrtak china chinai chn chu chueves cka \
    comkaldǝɓlii csutortok ctvrtek cuməaxsamı czw czwartek dear deardaoin dia diardaoin diesiovis dij dijaus dijous \
    djaweps dodel don donderdag dondertaxtsees donnerstag donneschdeg dunnersdaach dunnersdag dunschtig duor duorasdat \
    duorastat dyddiau dyyow eenjte enj ennvrkvpvenhvyvtke fim fimmtudagur fon fonde fro frontag ghj ghjovi gie gievgia \
    gio giobia giovedi guru guruwaar ham hamuse hit hiwihayashuh hos hosdagur huw huwebes iau ile ilħamis iov jaudo jerd \
    jerdein jeu jeudi job jobia joi joibe jov jovedi jovidia jue jueves jǝǝ jǝǝdi kam kamiisi kamis kamisa kan kem kemis \
    ket ketvirtadienis ketwirtiks kha khamiis khamis khms kin kintafera koa koangwan kuna kupelimetukpiapɛ kuramukakana \
    kuwakane labn labone lachinayi laki lakivara lam lamit lavhuna lesine lex lexmis liduvalyannyanonalinji lwakuna \
    lwesine mbɔ mbɔɔntetsetsɛɛlyɛʼ mderoteeile min mokɔlɔyaminei murwawakanne naa naasaande nai nakaungon namaxexe nas \
    neljapaev njowa njw ojobo okn olokuna orwakana osteguna pahitayi palichine pan panchshambeh pay payshanba pen \
    pencsem pensenbe per persembe poʻaha psm qui quinta quintafeira ravumune sam samass sgiovedi sin sine singhgizseiq \
    sis sisamanngorneq smn soistiʼ soo spa stvrtok stw stwortk sup supapa szt sztwortek sɔndɔmafumana sɔndɔməlumənyi tai \
    taite tan tgspacjiyaxiyaxsngayan thu thunam thursday tichangwen tongersdei too toozdee tor tors torsdag torstai \
    torstaina tosde toz tozde tsuʔume tuo tuorastah tuorastuv tur tuursdai tuʻa tuʻapulelulu tɔsɛdɛ ulesine ulwesine ume \
    ung ven venhkagrakuraha wainanas wakana wen wena wkn xov xoves xue xueves yaou yaw yawoada yawoɖa yedi yow zedi zeu \
    zeuggia zob zoba ħam ŋgi ŋgisu ŋgwambɔk ŋuaan ŋuaanlatni ɔjɔbɔ πεμ πεμπτη аԥшьаша беисенбі беиш беишемби еара кал \
    калоньчи калоньчистэ кеҫ кеҫнерникун паи паишанба панҷшанбе пии пиишемби пшб пүрэв пәнҗ пәнҗешәмбе цпр цыппӕрӕм чац \
    чацвер чацьвер чет четвер четверг четвертокъ четвртак четврток четвъртък чеⷦ҇ чэппиэр ҹүмәахшамы հգ հինգշաբթի հնգ \
    דאנערשטיק יוםה יוםחמישי أَلْح أَلْحَمِسْ الخميس برؠسوار بە بەي بەيسەنبى جمعرات خميس خمیس پنجشنبه پنچ پنچشمبه پينځنۍ \
    پَئشیمے پێنجشەممە پە پەيشەنبە ܚܡܫ ܚܡܫܒܫܒܐ ߓߌ ߓߌߟ ߓߌߟߏ߲ गु गुरु गुरुवार गुरुवासर बिरे बिरेस्तार बिस्थि बिस्थिबार बिहि \
    बिहिबार बीर बीरबार बृहस्पतवार बृहस्पतिदिन बृहस्पतिबार ब्रेसवार ला लाक्किवारा लाक्की विस विस्पत वी वीर वीरवार বৃঃ বৃহ \
    বৃহস্পতি বৃহস্পতিবার বৃহস্পতিবাৰ শগোলশেন ਵੀਰ ਵੀਰਵਾਰ ગુ ગુરુ ગુરુવાર ଗୁରୁ ଗୁରୁବାର ଲା ଲାକି ଲାକିୱାରା வி வியா வியாழன் \
    గురు గురువారం లాకివరా ಗುರು ಗುರುವಾರ വ്യാ വ്യാഴം വ്യാഴാഴ്ച බ්රහ බ්රහස් බ්රහස්පතින්දා พฤ วันพฤหัสบดี ພຫ ພະຫັດ ວັນພະຫັດ \
    གཟའཔསངས གཟའཕུརབུ ཕུརབུ སངས ကြာသပတေး တေး ხთ ხუთ ხუთშაბათი ሃሙሳ ሐሙስ ሓሙ ሓሙስ ኣምድ ከሚሽ ᐴᓂᐋᐱᐦᑕᐘᐣ ᓯᑕᒻᒥᖅ ព្រ ព្រហ ព្រហស្បតិ៍ \
    ᠫᠥᠷ ᠫᠦᠷ ᠫᠦᠷᠪᠦ ᱥᱟᱹᱨ ᱥᱟᱹᱨᱫᱤ ⴰⴽⵡ ⴰⴽⵡⴰⵙ 周四 星期四 木曜日 週四 ꆏꇖ ꆏꊂꇖ ꕉꔤꕆꕢ ꮕꭹ ꮕꭹꮑ ꮕꭹꮑꭲꭶ 목요일 𐑃𐐲𐑉 𐑃𐐲𐑉𐑆𐐼𐐩 𐑔𐑻 𐑔𐑻𐑟𐑛𐑱 𐓡𐓘𐓬𐓘𐓷𐓟𐓰𐓪𐓬𐓘 \
    𑄝𑄳𑄢𑄨𑄥𑄪𑄛𑄴 𑄝𑄳𑄢𑄨𑄥𑄪𑄛𑄴𑄝𑄢𑄴 𞄙𞄤𞄱𞄨 𞤲𞤢𞥄𞤧 𞤲𞤢𞥄𞤧𞤢𞥄𞤲𞤣𞤫
    """,
    """
    aijima ajj ajjuma alj aljuma alz alzuma ann anna aoine arapotei arb arbe arj arjuma ars arɩs arɩsǝma asim asimwas \
    asm aŋpetuzaptaŋ bear bearjadat biy biyernes cga che chenabura chishanu chs comgaisuu cum cuma cumə dehaoine dhieec \
    dhieeclatni diesveneris dih dihaoine dissikanhayashuh diu diuendres divendres djabierne dyddgwener dygwener epremte \
    eti fal falaite felete fia fiada fiɖ fiɖa fos fostudagur fra fraede frai fraide fraidee fraitaxtsees fre fredag \
    freed freedag freidai freideg freitag fri friday fridel friggjadagur friidaach friitig fritag ful fulade fɛlayɛdɛ \
    ghɨ gim gnu gum gumqata gwe gwen gwener hih hla ichuma icm ijm iju ijumaa ilgimgħa ini jeh jeheiney jim jimaata \
    jimco jje jjemɛa jmc jom jomah jum juma jumaa jumaah jumaat jumat jumba jummaʼa jumqata kan kas kom komuut \
    kuramukakasanu kuta kuwagatanu kɔɔ labohlano labotlhano labt lachisanu lap laposo lavhutanu lesihlanu \
    liduvalyannyanonamavili lwakutaano lwesihlanu maa mabagamasukul mawnde mbs mderoteesapa mokɔlɔyamitano mtn \
    murwawakatano mvfomagalyɛʼ mwd nakakany nakokkoskvnettv namathanu nannalhchifaʼnittak nat ngolesihlanu ngovya ngv \
    njumaa nma ojoeti okt olokutaanu orwakataano ostirala pahihanu palichisano par paraire patek pen penkarkuraha \
    penktadienis pentek pentniks perjantai perjantaina pet petak petek petk pia piatek piatok piektd piektdiena piktdine \
    pio piontek pja pjatk poʻalima pre ravuntlhanu reede rim san sap sdis sdisass sem ses sestafera sex sexta sextafeira \
    sha shu shukra shukrawaar sih sihlanu singhgizhaj soh sohaa suk sukrar sukru sukruvara tab tal tallimanngorneq tan \
    tgrimajiyaxiyaxsngayan thusau tichabich tlh tsuʔughɨm ulwesihlanu van vandredi vas vastuppeeivi vastuppeivi \
    vaŋdɛrɛdi ven venardi venare venderdi vendredi vendredo vendres venerdi venneri venniridia venres vie vienres \
    viernes vin vinars vineri vrijdag vrydag wainatiyon wakatano wetano wtn yuk yukuaku zom zoma ŋgwakɔɔ ɔjɔɛti ɗon \
    ɗonɛsu ɛti παρ παρασκευη ахә ахәаша баасан бээтиҥсэ жум жума жұма маирӕмбон мрб пʼятниця пет петак петок петък пят \
    пятница пятніца пѧтокъ пѧⷦ҇ пӏе пӏераска сюк сюконьчи сюконьчистэ эрнекун җом җомга ҷмъ ҷумъа ҹүмә ու ուր ուրբաթ \
    יוםו יוםשישי פֿרײַטיק الجمعة جمعة جمعه جمعو جمعہ جمه جُم جُمَعَ جُمہ جۇ جۇم جۇما جۈ جۈمە شُوگار ھەینی ܥܪܘ ܥܪܘܒܬܐ ߛߌ߬ \
    ߛߌ߬ߣ ߛߌ߬ߣߌ߲߬ߟߏ߲ जु जुम जुमा जुमो जुम्मा शु शुक्कर शुक्करवार शुक्र शुक्रदिन शुक्रबार शुक्रवार शुक्रवासरः शुक्रार सु \
    सुकुरु सुकुरुवारा सुखुर सुखुरबार सुुखुरबार ইরাই শুঃ শুক্র শুক্রবার শুক্ৰ শুক্ৰবাৰ ਸ਼ੁੱਕ ਸ਼ੁੱਕਰ ਸ਼ੁੱਕਰਵਾਰ શુ શુક્ર \
    શુક્રવાર ଶୁକ୍ର ଶୁକ୍ରବାର ସୁ ସୁକ୍ରୁ ସୁକ୍ରୁୱାରା வெ வெள் வெள்ளி నుక్వరా శుక్ర శుక్రవారం ಶುಕ್ರ ಶುಕ್ರವಾರ വെ വെള്ളി \
    വെള്ളിയാഴ്ച සිකු සිකුරාදා วันศุกร์ ວັນສຸກ ສຸ ສຸກ གཟའཔསངས གཟའསྤེནཔ པསངས སྤེན ကြာ သောကြာ პარ პარასკევი პრ አርባ ኣርብ ዓር \
    ዓርበ ዓርቢ ዓርብ ጅምዓ ጅምዓት ᑕᓪᓕᒻᒥᐅᑦ ᑫᑳᐨᒫᑎᓇᐍᑮᓯᑳᐤ សុ សុក្រ ᠪᠠ ᠪᠠᠰᠠᠩ ᱡᱟᱹ ᱡᱟᱹᱨᱩᱢ ⴰⵙⵉⵎ ⴰⵙⵉⵎⵡⴰⵙ ⵙⵉⵎⵡⴰⵙ 周五 星期五 週五 金曜日 ꆏꉬ ꆏꊂꉬ ꕉꔤꕀꕮ \
    ꮷꮎ ꮷꮎꭹ ꮷꮎꭹꮆꮝꮧ 금요일 𐑁𐑉𐐴 𐑁𐑉𐐴𐐼𐐩 𐑓𐑮 𐑓𐑮𐑲𐑛𐑱 𐓡𐓘𐓬𐓘𐓰𐓘𐓵𐓘𐓲𐓘𐓻𐓣 𑄥𑄪𑄇𑄴𑄇𑄮𑄢𑄴 𑄥𑄪𑄇𑄴𑄇𑄮𑄢𑄴𑄝𑄢𑄴 𞄑𞄤𞄱𞄨 𞤥𞤢𞤣 𞤥𞤢𞤱𞤲𞤣𞤫
    """,
    """
    abameta abamɛta arapokoi arf arfininngorneq asa asab asabar asabat asabotsy asb asd ase aseer asi asib asibti asid \
    asidyas asiibi ass assabdu bakɛl bakɛllatni chir cmt comzyeɓsuu cumartesi cze desathairn diessaturni dis disathairne \
    dissabte djasabra dyddsadwrn dysadorn dzk esa esaabadu esabato esaɓasu eshtune est gnd gqi hbi hoorebiir hɔɔ ijm \
    ijumamosi inikuˀtiˀtiˀ issibt jes jesarn jmo jon jum jumaamosi jumamoosi jumamosi kifulanguwo kol kolo kuwagatandatu \
    kwe larunbata lau lauantai lauantaina laugardagur laupaev laurdag lav lavurdah lavurduv lavvardat lavvordat lay \
    layenga lem ley leygardagur liduvalitandi lor lordag loweruka lub lubingu lwamukaaga lør lørdag magalyɛʼ mat \
    matlhatso mderoteekwe mem memeneda memleɖa mgc mgq mgqibelo mok mokibelo moosi moq moqebelo mps mpɔsɔ mug mugivhela \
    mugovera mugqivela muka mɔnɔsɔndi nakasabiti nettvcakʼcuse ngeso ngs ngu nittakholloʼnakfish njumamothi njumamothii \
    nmm ojoabameta olomukaaga omk orwamukaaga owaŋgyuzazapi pachibelushi pashahulembela poʻaono qid qidaame qun \
    qunxasambat rah rahoroi sab sabado sabadu sabato sabattika sabbato sabbatu sabbatum sabbo sabeda sabet sabide sabo \
    sabti sabtu sabudu sad sadorn sam sambata samdi samedi samschdeg samschtig samsdaach samstag san sanbata sani saninj \
    sanivara sap saptu sar sarere sas sasadi sasidɛ sastdine sat satade saterdag satertaxtsees sath satode satodee \
    saturday saturdi sau sauru sav savnu say sayass sbti sed sem semi sen senbe ser serade sesele sestadienis sestd \
    sestdiena sha shambeh shan shanba shani shaniwaar sht sib sibiri sibiti singhgizroek siɓiti sneon sob sobota son \
    sonda sonvar sse ssebt sub subota sunnavend szo szombat sənbə tgmatarujiyaxiyaxsngayan thubay tok tokonaki \
    tsuʔndzɨkɔʔɔ umgcibelo umgqibelo wainachirim wathanthatu wer wth zadel zaterdag ŋgwajon ɔjɔabamɛta σαβ σαββατο \
    асабша бямба ишемби ишм саб сабат сабота сбт сенбі суб суббота субота субуота събота сꙋббѡта сꙋⷠ҇ шам шаматкун шан \
    шанба шанбе шем шемби шим шимбә шля шлямочи шлямочистэ шнб шуо шуот шәнбә շաբաթ շբ շբթ יוםשבת שבת أَسَ أَسَبَرْ \
    السبت اونۍ بٹوار سبت سبتو سن سەن سەنبى شم شمبه شنبه شە شەممە شەنبە لَوآنگا چھݨچھݨ ڇنڇر ہفتہ ܫܒܬܐ ߞߍ߲ ߞߍ߲ߘ ߞߍ߲ߘߍߟߏ߲ \
    छंछ छंछर बटवार शनि शनिच्चरवार शनिदिन शनिबार शनिवार शनिवासरः शेन शेनवार सनि सनिबार सनीचर सा सान्नि सान्निवारा থাংজ শঃ \
    শনি শনিবার শনিবাৰ ਸ਼ਨਿੱ ਸ਼ਨਿੱਚਰ ਸ਼ਨਿੱਚਰਵਾਰ શનિ શનિવાર ଶନି ଶନିବାର ସାନି ସାନିୱାରା சனி శని శనివారం సానివరా ಶನಿ ಶನಿವಾರ \
    ശനി ശനിയാഴ്ച සෙන සෙනසුරාදා วันเสาร์ ວັນເສົາ ເສົາ གཟའཉིམ གཟའསྤེནཔ ཉི སྤེནཔ စနေ နေ შაბ შაბათი შბ ሰሽ ሰን ሰንበርሽጓዅ ሰንበትንኢሽ \
    ቀዳ ቀዳሚት ቀዳም ቄራ ቅዳሜ ᒫᑎᓇᐍᑮᓯᑳᐤ ᓈᑦᓰᖑᔭᓛᕐᓂᐊᖅ សៅរ៍ ᠪᠢᠮ ᠪᠢᠮᠪᠠ ᱧᱩ ᱧᱩᱦᱩᱢ ⴰⵙⵉⴹ ⴰⵙⵉⴹⵢⴰⵙ 周六 土曜日 星期六 週六 ꆏꃘ ꆏꊂꃘ ꔻꔬꔳ ꭴꮎꮩꮣꮘꮥꮎ ꮘꮥꮎ ꮥꮎ \
    토요일 𐑅𐐰𐐻 𐑅𐐰𐐻𐐲𐑉𐐼𐐩 𐑕𐑨 𐑕𐑨𐑛𐑻𐑛𐑱 𐓡𐓘𐓬𐓘𐓪𐓤𐓘𐓸𐓟𐓣𐓤𐓟 𑄥𑄧𑄚𑄨 𑄥𑄧𑄚𑄨𑄝𑄢𑄴 𞄊𞄧𞄳 𞤸𞤮𞤪 𞤸𞤮𞤪𞤦𞤭𞤪𞥆𞤫
    """,
    """
    aadi aadivara aca acaada ace acer ahad ahd aiku ait aitar alah alahady alahaɖɩ alh alhadi aratei are asa asamas axad \
    axd aŋpetuwakhaŋ bazar bikuaoko caw cawe caŋ caŋkuɔth chumapiri chunhat comyakke cpr cya cyu dedomhnaigh dew dewo \
    dib dibeer did didomhnaich die diessolis dil dilbata dim dimanche dimanco dimans dimas dimenge dimingu diumenge \
    djadumingu dom domenega domenia domenica domenie domh dominche domingo domingu dominica dominiga dum dumengia \
    dumenica dumingu duminica dyddsul dysul ediel emp eti ettiminku eye eyenga hɔg hɔgbaa igandea ijp ijumapili ilħadd \
    inikuˀ isonto itukujajumwa jed jedoonee jiyaxsngayan jmp jpi jum jumaapii jumapiiri jumapil jumapili jumapilyi \
    jumapiri kar kari kiu kiumia kma kotisap kts kucyumweru kuwindwi kwasiada kwe kɔs kɔsiɖa lad ladi lah lahadi lam \
    lamorena lamulungu lapule lhe lhed liduvalyapili lin linggo lisontfo lum lumingu lyɛʼɛswiŋte mderoteeare min minggu \
    mit mituu mng mul mulungu nab nabasambat nad nadili nakaejuma ned nedela nedele nedelja nedjelja nettvʼcako \
    ngoenzsinghgiz nie niedz niedziela nittakholloʼ niy niydziela nje njedzela njezela nts num numiggu nɔy ojoaiku \
    pamulungu pas pasepeeivi pasepeivi paz pazar piili puhapaev rat ratapu ravi raviwaar sab sabato sabbiiti sabi \
    sabiiti sam sambata san sande sap sapaat sapate sekmadienis snein sol soledi son sondag sondai sonde sondee sonndeg \
    sonntag sonta sontaha sontaxtsees sonto sotn sotnabeaivi sudel sul sun sunday sunndaach sunndag sunntag sunntig \
    sunnudagur sunnuntai svatdine svetd svetdiena svo svondo swo swondaha søn søndag sɔn sɔndi sɔndiɛ sɔndǝ sɔndɔ tsh \
    tshipi tsuʔntsɨ usonto vasarnap waiyokabawai wakyumwa wky yak yakshambeh yakshanba yan yanass yek yeksem yeksenbe \
    yok ysm zondag ħad ŋgwanɔy ɔjɔaiku κυρ κυριακη амҽыша базар баскыһыанньа воскресенье выр вырсарникун екш екшемби жек \
    жексенбі жекшемби кӏи кӏира ндⷧ҇ѧ нед недела неделя недеља неділя недјеља недѣлѧ няд нядзеля ням тар таргочи \
    таргочистэ хуыцаубон хцб якш якшанба якшанбе якшәмбе яшб կիր կիրակի կր זונטיק יוםא יוםראשון آتھوار آچر أحد اتوار احد \
    الأحد اَتھوار ایکشیمے جە جەك جەكسەنبى لَح لَحَدِ يونۍ يە يەكشەنبە یک یکشمبه یکشنبه یەکشەممە ܚܕ ܚܕܒܫܒܐ ߞߊ߯ ߞߊ߯ߙ \
    ߞߊ߯ߙߌߟߏ߲ आइत आइतबार आथवार आदि आदिवारा आय आयतार आर्त आर्तवार ऐत ऐतबार ऐतवार तोआर रबि रबिबार रबीबार रवि रविदिन रविवार \
    रविवासरः দেও দেওবাৰ নোংমাইজিং রঃ রবি রবিবার ਐਤ ਐਤਵਾਰ રવિ રવિવાર ଆଦି ଆଦିୱାରା ରବି ରବିବାର ஞா ஞாயி ஞாயிறு ఆది ఆదివారం \
    వారమి ಭಾನು ಭಾನುವಾರ ഞാ ഞായറാഴ്ച ഞായർ ඉරි ඉරිදා วันอาทิตย์ อา ວັນອາທິດ ອາ ອາທິດ གཟའཉིམ གཟའཟླབ ཉིམ ཟླ တနင်္ဂနွေ နွေ კვ \
    კვი კვირა ሰቅ ሰን ሰንበርቅዳዅ ሰንበት ሰንበትዓባይ ሰዓ እሑድ እኁድ ወጋ ᐊᔭᒥᐦᐁᑮᓯᑳᐤ ᓈᑦᑏᖑᔭᖅ អា អាទិត្យ ᠨᠢ ᠨᠢᠮᠠ ᱥᱤᱸ ᱥᱤᱸᱜᱮ ⴰⵙⴰ ⴰⵙⴰⵎⴰⵙ 周日 日曜日 \
    星期日 週日 ꑬꆏ ꑬꆏꑍ ꕞꕌꔵ ꭴꮎꮩꮣꮖꮝꭼ ꮖꮝꭼ ꮝꭼ 일요일 𐑅𐐲𐑌 𐑅𐐲𐑌𐐼𐐩 𐑕𐑭 𐑕𐑭𐑙𐑛𐑱 𐓡𐓘𐓬𐓘𐓷𐓘𐓤𐓘𐓰𐓘𐓤𐓣 𑄢𑄧𑄝𑄨 𑄢𑄧𑄝𑄨𑄝𑄢𑄴 𞄎𞄤𞄲 𞤪𞤫𞤬 𞤪𞤫𞤬𞤦𞤭𞤪𞥆𞤫
    """,
  ]

  /// The names of the first and the second half of the day.
  package static let halfNames = [
    """
    aaro aarɔ adduha ag am amvormittag ankstainan antemidi ap atm banhaet bn braxkndaax comme damanha de delamanana \
    delmatin dinda dop dopoldne dopołdnja dopołednio eparadites fh fm fomonin formiddag ft gh gon goon gunortadanon \
    hengihengi hh hoseng iarmade ib ibikɛgla icheheavo idiɓa im isuk iyakwakya iđitbeaivet iđitbeaivi ka kangama karoon \
    ki kikirig kiroko kiɛmɛɛm krn lb leebi lumalwak lwamilawu makeo mambia mana manana manha mat matin mbaʼambaʼ \
    mbaꞌmbaꞌ moies muhi munkyo nd ntufat ntɔngɔ nututu od oo pagisiang pamilau paradite pd pg pgsg piopensuno prieksp \
    priekspusdiena priespiet prijepodne priskpusdine rn ru rw sa saaku safiya saruwa sf sokallim soodo sub subaka \
    subbaahi taparachu tesiran tifawt too uhrvormiddaachs ulloqeqqatatungaa uluchelo utuko vaasisu vm vorm vormeddaach \
    vormittag wd wichishu yb zdatazal zmu ŋdi ǁgoagas ɛnkakɛnya ʊshilekʊboɖu πμ ам апоуначы дп обедтэикеле преподне \
    претпл пријеподне проб таңкы то тң эи үө ӕмбисбоныразмӕ פֿאַרמיטאָג اےایم بن تد ص صباحا صباحًا صبحمنجهند غم قبلازظهر \
    قظ چب چۈشتىنبۇرۇن ܩܛ ߛ एएम तडके दुपहरब्रोंठ पूर्वाह्न फुं भोर भ्यागा येएम सकाळीं सबेरे सवेर सुबुहजा এএম নুমাং ਪੂਦੁ \
    ଏଏମ ପୂର୍ବାହ୍ନ ఎఎమ్ පෙව ก่อนเที่ยง ກ່ອນທ່ຽງ སྔཆ སྔདྲོ နံနက် ማለዶ ቀደምሰርምዕል ቅቀ ጥዋት ጽባሕ ፋዱስጃብ ᐁᒼ ᐊᒼ ᠦᠥ ᱥᱮᱛᱟᱜ ⵜⵉⴼⴰⵡⵜ 上午 午前 \
    ꎸꄑ ꮜꮎꮄ 오전 𐐰𐑋 𐑨𐑥 𞤢𞤰
    """,
    """
    ak akasuba aluula amnamittag anw banringzgvaq baubaukndaax carra ch chilo cɛɛnko datarde deffiraza delatarde desira \
    dilolo du ea eahketbeaivet eahketbeaivi eb ebongi ebyamu efiafi eftermade eftermiddag eh eigulo em ep epasdites ew \
    fi foivnin gd gm goson gson gunortadanson hawwaro hwaiini ichamthi iyawioo iɓugajɔp kikiiɗe kingoto kisɛndɛ koosk \
    kooskoliny kugu kyiukonyi lilli lk lumalwap makaaripi mchochill md mog mpokwa muu nabali nam namittag ncwonzem ngo \
    ngəgogəle nm nomettes nommendaach ntmeddit nyiaghuo odp os osan pamunyi papussideinan pasdite pashamihe pecp pecpusd \
    pecpusdiena piecpusdine pipinisuno pm pn pop popiet popodne popoldne popołdnju popołedniu posmidi ptg ptm sanje \
    shwane sn soir soremalem srmlm tadggwat tarde teipa thapama tk tŋ ug uhrnommendaachs ulloqeqqatakingorna wb wengi \
    wotp wotpołdnja yamma yh ym zaarikayb zmw ŋkambɔtnji ǃuias ɔsan ɛndama ɣetrɔ ʊshilekʊsasʊ μμ апоудні обедтэмеиле пм \
    попл поподне послијеподне пп слоб тк түштөнкииинки эк үх ӕмбисбоныфӕстӕ נאָכמיטאָג بظ بعدازظهر تك دن شاممنجهند غو م \
    مساء مساءً منجهندشام پیایم چك چۈشتىنكېيىن ܒܛ ߥ अपराह्न दपेहरासंजा दपैहरबाद दुपहरपतॖ पीएम बेलासे शामजा सञ सांजे सांझ \
    सांम পিএম ਬਾਦੁ ଅପରାହ୍ନ ପିଏମ పిఎమ్ පව หลังเที่ยง ຫຼັງທ່ຽງ ཕྱིཆ ཕྱིདྲོ ညနေ ሓቆስርምዕል ምሴት ቃማ ከሰዓት ድቀ ፋዱስደምቢ ᐲᒼ ᠦᠬᠣ ᱧᱤᱫᱟᱹ \
    ⵜⴰⴷⴳⴳⵡⴰⵜ 下午 午後 ꁯꋒ ꮢꭿᏹꭲ ꮢꭿᏹꭲꮧꮲ 오후 𐐹𐑋 𐑐𐑥 𞤩𞤰
    """,
  ]

  /// The first part of numeric dates by language: year, month or day.
  package static let orders = """
    af=y ak=m ann=y apc=y arn=y az-Arab=y az-IQ=y az-IR=y az-TR=y ba=y bgc=y bgn=y bho=y blo=m blt=y bo=y bss=y cad=m \
    cch=y ce=y ceb=m cho=y chr=m cic=m ckb=y cop=y csw=y cu=y dz=y ee=m en=m en-001=d en-150=d en-AE=d en-AG=d en-AI=d \
    en-AT=d en-AU=d en-BB=d en-BE=d en-BM=d en-BS=d en-BW=d en-BZ=d en-CA=y en-CC=d en-CH=d en-CK=d en-CM=d en-CX=d \
    en-CY=d en-CZ=d en-DE=d en-DG=d en-DK=d en-DM=d en-Dsrt=y en-ER=d en-ES=d en-FI=d en-FJ=d en-FK=d en-FM=d en-FR=d \
    en-GB=d en-GD=d en-GG=d en-GH=d en-GI=d en-GM=d en-GS=d en-GY=d en-HK=d en-HU=d en-ID=d en-IE=d en-IL=d en-IM=d \
    en-IN=d en-IO=d en-IT=d en-JE=d en-JM=d en-KE=d en-KI=d en-KN=d en-KY=d en-LC=d en-LR=d en-LS=d en-MG=d en-MO=d \
    en-MS=d en-MT=d en-MU=d en-MV=d en-MW=d en-MY=d en-NA=d en-NF=d en-NG=d en-NL=d en-NO=d en-NR=d en-NU=d en-NZ=d \
    en-PG=d en-PK=d en-PL=d en-PN=d en-PT=d en-PW=d en-RO=d en-RW=d en-SB=d en-SC=d en-SD=d en-SE=y en-SG=d en-SH=d \
    en-SI=d en-SK=d en-SL=d en-SS=d en-SX=d en-SZ=d en-Shaw=y en-TC=d en-TK=d en-TO=d en-TT=d en-TV=d en-TZ=d en-UG=d \
    en-VC=d en-VG=d en-VU=d en-WS=d en-ZA=y en-ZM=d en-ZW=d eo=y es-PA=m es-PR=m eu=y fa=y fil=m fr-CA=y gaa=m gn=y \
    ha-Arab=y ha-SD=y hnj=y hu=y ii=y io=y iu=m iu-Latn=y ja=y jbo=y jgo=y kaa=y kaj=y kcg=y ken=y kl=y ko=y kpe=y ks=m \
    ks-Deva=d ks-IN=d lkt=m lmo=y lrc=y lt=y ltg=y mdf=y mg=y mgo=y mhn=y mic=y mn=y moh=y mus=m myv=y mzn=y ne=y nqo=y \
    nr=y nso=y nv=y ny=y om=m or=m osa=m pis=y ps=y quc=y raj=y rhg=y rw=y sah=y sd=y sd-Deva=m sd-IN=m sdh=y se=y \
    se-FI=d shn=y si=y skr=y sma=y smj=y sms=y sn=y ss=y st=y sv=y ti=m tn=y tok=y trv=y ts=y tyv=y ug=y uz-AF=y \
    uz-Arab=y ve=y vmw=y vo=y wa=y wae=y wbp=y xh=m yue=y za=y zh=y zh-HK=d zh-MO=d zh-SG=d zu=m
    """
}
