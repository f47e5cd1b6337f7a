import type { Strings } from './en.ts';

/** The hour is in the singular for one o’clock. */
const from = (time: string): string => `a partir de ${/^0?1\D/.test(time) ? 'la' : 'las'} ${time}`;

export const strings: Strings = {
  page: {
    title: (name) => (name === '' ? 'Contacto' : `Contacto con ${name}`),
    language: 'Idioma',
    menu: 'Menú',
    home: 'Inicio',
    privacy: 'Privacidad',
    imprint: 'Aviso legal',
    reload: 'Recargar',
    cannotStart: 'No se puede abrir el formulario de contacto',
    unsupported:
      'Este navegador no permite que la página guarde datos o es demasiado antiguo. Permita que la página guarde datos o pruebe con otro navegador.',
  },
  session: {
    lead: 'Inicie sesión para escribirnos y ver sus consultas anteriores.',
    hint: 'Tras iniciar sesión volverá a esta página. Los demás usuarios no ven lo que usted envía.',
    signIn: 'Iniciar sesión',
    signingIn: 'Un momento…',
    signInAgain: 'Volver a iniciar sesión',
    signOut: 'Cerrar sesión',
    signedOut: { title: 'Se ha cerrado la sesión', text: '' },
    signedOutHere: {
      title: 'Se ha cerrado la sesión aquí',
      text: 'El servicio de inicio de sesión no respondió y es posible que su sesión siga abierta allí. En un equipo compartido, cierre el navegador.',
    },
    ended: {
      title: 'Su sesión ha caducado',
      text: 'Hemos conservado su texto. Inicie sesión para continuar.',
    },
    cancelled: { title: 'Se canceló el inicio de sesión', text: '' },
    failed: { title: 'No se pudo iniciar sesión', text: 'Inténtelo de nuevo.' },
    noAnswer: {
      title: 'El servicio de inicio de sesión no responde',
      text: 'Compruebe su conexión e inténtelo de nuevo.',
    },
    required: {
      title: 'Debe iniciar sesión',
      text: 'Inicie sesión en este sitio para escribirnos.',
    },
  },
  form: {
    title: '¿En qué podemos ayudarle?',
    lead: 'Cuéntenos de qué se trata.',
    topics: 'Temas',
    subject: 'Asunto (opcional)',
    message: 'Mensaje',
    empty: 'Escriba un mensaje.',
    noMail: (email) =>
      `No podemos enviar correos electrónicos a ${email}. Indíquenos en su mensaje otra forma de ponernos en contacto con usted, por ejemplo otra dirección de correo o un número de teléfono.`,
    send: 'Enviar consulta',
    sending: 'Enviando…',
    tryAgain: 'Intentar de nuevo',
    kept: 'Borrador guardado en este navegador.',
    notKept: 'Este navegador no puede guardar borradores. Mantenga abierta esta página.',
    sendingNow: 'Su consulta se está enviando.',
    slow: 'Está tardando más de lo habitual. Mantenga abierta esta página.',
    ready: {
      title: 'Lista para enviar',
      text: 'Su consulta aún no se ha enviado. El texto está tal como lo dejó.',
    },
    offline: {
      title: 'No tiene conexión',
      text: 'Puede seguir escribiendo. Envíe la consulta cuando vuelva a tener conexión.',
    },
    size: (used, limit) => `${used} de ${limit}`,
    tooLarge: (over) => `Supera el límite en ${over}. Acorte el mensaje.`,
    backToForm: 'Escribirnos',
    connected: 'Vuelve a tener conexión',
  },
  sent: {
    title: 'Hemos recibido su consulta',
    reference: 'Referencia',
    copy: 'Copiar la referencia',
    next: (email) => `Le responderemos por correo electrónico a ${email}.`,
    answersFrom: (sender, email) =>
      `Nuestra respuesta llegará por correo electrónico de ${sender} a ${email}.`,
    noMail: (email) =>
      `No podemos enviar correos electrónicos a ${email}. Si su mensaje no indica otra forma de ponernos en contacto con usted, escríbanos de nuevo.`,
    another: 'Nueva consulta',
    elsewhere: { title: 'Ya se envió', text: 'Usted envió esta consulta desde otra pestaña.' },
  },
  ask: {
    unsent: {
      title: 'Tiene texto sin enviar',
      text: '¿Quiere conservarlo en este navegador hasta que vuelva a iniciar sesión o prefiere borrarlo?',
    },
    keepAndSignOut: 'Conservarlo y cerrar sesión',
    deleteAndSignOut: 'Borrarlo y cerrar sesión',
    staySignedIn: 'No cerrar sesión',
    sendVersion: 'Enviar también esta versión',
    goOnEditing: 'Seguir editando',
  },
  failures: {
    'signed-out': 'Su sesión ha caducado',
    'too-large': 'Su consulta es demasiado larga',
    busy: 'El servicio está muy ocupado',
    limit: 'Ha alcanzado el límite por hora',
    conflict: 'Su consulta aún se está procesando',
    reused: 'Ya se envió una versión anterior de esta consulta',
    refused: 'El servicio no ha aceptado la operación',
    offline: 'No tiene conexión',
    unreachable: 'El servicio no responde',
    server: 'Algo ha fallado por nuestra parte',
    unknownOutcome:
      'Aún no sabemos si su consulta ha llegado. Hemos conservado su texto. Puede intentarlo de nuevo sin riesgo: guardamos la consulta una sola vez.',
    unknownOutcomeSignedOut:
      'Aún no sabemos si su consulta ha llegado. Hemos conservado su texto. Vuelva a iniciar sesión y terminaremos de enviarla: guardamos la consulta una sola vez.',
    notSentSignedOut:
      'No se ha enviado nada. Hemos conservado su texto: vuelva a iniciar sesión y podrá enviarlo.',
    notSentTooLarge: (limit) =>
      `No se ha enviado nada. El asunto y el mensaje juntos pueden ocupar hasta ${limit}. Acórtelos.`,
    notSentLimit: (wait, time) =>
      `No se ha enviado nada: ya ha enviado todas las consultas que aceptamos por hora. Hemos conservado su texto. Podrá enviarlo ${wait === '' ? from(time) : `${wait} (${from(time)})`}.`,
    minutes: {
      one: 'dentro de {n} minuto',
      many: 'dentro de {n} minutos',
      other: 'dentro de {n} minutos',
    },
    notSentBusy:
      'No se ha enviado nada. Hemos conservado su texto. Inténtelo de nuevo dentro de un minuto.',
    notSentRefused: (reason) => `No se ha enviado nada. Hemos conservado su texto. ${reason}`,
    notSentOffline:
      'No se ha enviado nada. Hemos conservado su texto. Envíelo cuando vuelva a tener conexión.',
    notSent: 'No se ha enviado nada. Hemos conservado su texto. Inténtelo de nuevo.',
    otherVersion: 'La versión anterior ha llegado. ¿Quiere enviar también esta versión?',
    oldAttempt: 'Es posible que un envío anterior haya llegado',
    oldAttemptText: (time) =>
      `Intentó enviar este texto el ${time}. Ya no podemos saber si llegó. Hemos conservado su texto.`,
    list: 'No hemos podido cargar sus consultas.',
    listSignedOut: 'Vuelva a iniciar sesión para verlas.',
    listOffline: 'Se cargarán cuando vuelva a tener conexión.',
    listTryAgain: 'Inténtelo de nuevo dentro de un momento.',
  },
  list: {
    title: 'Sus consultas',
    refresh: 'Actualizar',
    loading: 'Sus consultas se están cargando.',
    upToDate: 'La lista está al día.',
    updated: 'La lista se ha actualizado.',
    count: { one: '{n} consulta', many: '{n} consultas', other: '{n} consultas' },
    newest: {
      one: 'la más reciente',
      many: 'las {n} más recientes',
      other: 'las {n} más recientes',
    },
    more: 'Mostrar más',
    noSubject: 'Sin asunto',
    noMessage: 'Sin mensaje',
    showAll: 'Mostrar todo',
    showAllOf: (size) => `Mostrar todo (${size})`,
    showLess: 'Mostrar menos',
    answers: (email) =>
      `Las respuestas no aparecen aquí. Llegan por correo electrónico a ${email}.`,
    answersFrom: (sender, email) =>
      `Las respuestas no aparecen aquí. Llegan por correo electrónico de ${sender} a ${email}.`,
    search: 'Buscar en sus consultas',
    period: 'Período',
    anyTime: 'Cualquier fecha',
    lastDays: { one: 'Último día', many: 'Últimos {n} días', other: 'Últimos {n} días' },
    lastMonths: { one: 'Último mes', many: 'Últimos {n} meses', other: 'Últimos {n} meses' },
    matches: { one: '{n} resultado', many: '{n} resultados', other: '{n} resultados' },
    noMatch: 'Ninguna consulta coincide',
    noMatchYet: 'Ningún resultado por ahora',
    notSearched: 'Las consultas anteriores aún no se han buscado.',
    searching: 'Se están buscando consultas anteriores…',
    clear: 'Borrar la búsqueda',
    today: 'Hoy',
    yesterday: 'Ayer',
    copyText: 'Copiar el texto',
    copyLink: 'Copiar el enlace',
    copied: 'Copiado',
    notCopied: 'No se pudo copiar',
    notFound: 'Esta consulta no está en su lista.',
  },
};
