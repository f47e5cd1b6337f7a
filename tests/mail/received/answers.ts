/** Answers as a shop writes them: what libraries take for signatures, attributions and headers is in each. */
export const ANSWERS: Record<string, string> = {
  'one word': 'Yes.',
  emoji: '👍',
  'bank details':
    'Hello Ana,\n\nhere are our bank details:\n\nIBAN: DE89 3704 0044 0532 0130 00\nBIC: COBADEFFXXX\nOwner: Lamp Ltd.',
  'bank details, glued': 'Hello Ana,\n\nDate: 3 December\nRoom: Elbe\nPrice: 120 EUR\nBest, Olga',
  'opening hours':
    'Mon-Fri: 9:00-18:00\nSat: 10:00-14:00\nSun: closed\n\nOn 24 December we close at 12:00.',
  address: 'Please send it to\n\nLamp Ltd.\nAttn: Olga\n12 Main Street\n\nFrom: Hamburg\nTo: Kiel',
  'sent from':
    'Your parcel has left us.\n\nSent from Hamburg on Monday; the number is 4711.\n\nOlga',
  'sent from, German':
    'Hallo Ana,\n\nGesendet von unserem Lager in Kiel.\nVon meinem Kollegen: alles gut.',
  'an ending colon': 'Please be here on 3 December at 10:00 and bring:',
  'our address': 'If it is not there, write to {from}\nand we will send another one.',
  'our address alone': 'Write to\n\n{from}',
  Dutch:
    'Beste Ana,\n\nOp maandag wordt uw pakket geleverd.\nOp 3 december schreef de koerier:\nhet is er.',
  French:
    'Bonjour,\n\nLe 3 décembre à 10:00 :\nc’est prêt.\n\nEnvoyé depuis Lyon lundi.\n\nCordialement,\nOlga',
  Polish: 'Dzień dobry,\n\nDnia 3 grudnia wyślemy paczkę.\nNumer 4711.\n\nPozdrawiam',
  Spanish: 'Hola Ana:\n\nEl lunes escribió el mensajero:\nllega mañana.\n\nEnviado desde Madrid.',
  Russian: 'Здравствуйте!\n\n3 декабря мы написали:\nпосылка в пути.\n\nОтправлено из Москвы.',
  Greek: 'Καλημέρα,\n\nΣτις 3 Δεκεμβρίου έγραψε:\nέρχεται.\n\nΌλγα',
  Arabic: 'مرحبا آنا،\n\nفي يوم الاثنين كتب السائق:\nالطرد في الطريق.\n\nأولغا',
  Hebrew: 'שלום,\n\nב-3 בדצמבר כתב השליח:\nהחבילה בדרך.',
  Chinese: '您好，\n\n在周一之前我们会发货。\n单号 4711。\n\n奥尔加',
  Japanese: 'アナ様\n\n12月3日に発送いたします。\n差出人: ハンブルク店\n\n以上',
  Korean: '안녕하세요.\n\n보낸 사람: 함부르크 지점\n내일 도착합니다.',
  Hindi: 'नमस्ते,\n\nसोमवार को लिखा:\nपार्सल आ रहा है।',
  Thai: 'สวัสดีค่ะ\n\nพัสดุจะถึงวันศุกร์\nเลขที่ ๔๗๑๑',
  'questions and answers':
    'Q: When does it arrive?\nA: On Friday.\n\nQ: By whom?\nA: By the carrier.',
  list: '1. Open Settings.\n2. Choose Accounts.\n\n- red\n- green\n* blue\n\n[ ] done',
  table:
    'Size   Price\n-----  -----\nS      10.00\nM      12.00\n=====  =====\n\n_____________\nTotal 22.00',
  'another mail':
    'Look for a mail like this:\n\nFrom: Carrier <noreply@carrier.example>\nSent: Monday\nSubject: Your parcel\n\n-----Original Message-----\n\nIt has the link.',
  'a quotation of somebody else':
    'you asked\n\n> When does my parcel arrive?\n\nOn Friday.\n\nOn Monday the carrier wrote:\n\n> In Kiel.\n\nOlga',
  'a ruler': 'first part\n--\nsecond part\n\n---\n\n***\n\n-- Olga',
  '200 lines': Array.from({ length: 200 }, (_, at) =>
    `Line ${at + 1}: ${'word '.repeat(at % 9)}`.trim(),
  ).join('\n'),
};
