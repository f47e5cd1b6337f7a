import type { Strings } from './en.ts';

// \u202f is the narrow space before ? ! : ; and inside « »; the line never breaks there.
export const strings: Strings = {
  page: {
    title: (name) => (name === '' ? 'Nous contacter' : `Contacter ${name}`),
    language: 'Langue',
    menu: 'Menu',
    home: 'Accueil',
    privacy: 'Confidentialité',
    imprint: 'Mentions légales',
    reload: 'Recharger la page',
    cannotStart: 'Impossible d’ouvrir le formulaire de contact',
    unsupported:
      'Ce navigateur ne permet pas à la page d’enregistrer des données, ou il est trop ancien. Autorisez la page à enregistrer des données, ou essayez un autre navigateur.',
  },
  session: {
    lead: 'Connectez-vous pour nous écrire et retrouver vos demandes précédentes.',
    hint: 'Après la connexion, vous revenez sur cette page. Les autres utilisateurs ne voient pas ce que vous envoyez.',
    signIn: 'Se connecter',
    signingIn: 'Un instant…',
    signInAgain: 'Se reconnecter',
    signOut: 'Se déconnecter',
    signedOut: { title: 'Déconnexion effectuée', text: '' },
    signedOutHere: {
      title: 'Déconnexion effectuée sur ce site',
      text: 'Le service de connexion n’a pas répondu\u202f: votre session y est peut-être encore ouverte. Sur un ordinateur partagé, fermez le navigateur.',
    },
    ended: {
      title: 'Votre session a expiré',
      text: 'Votre texte est conservé. Connectez-vous pour continuer.',
    },
    cancelled: { title: 'La connexion a été annulée', text: '' },
    failed: { title: 'La connexion a échoué', text: 'Veuillez réessayer.' },
    noAnswer: {
      title: 'Le service de connexion ne répond pas',
      text: 'Vérifiez votre accès à Internet, puis réessayez.',
    },
    required: {
      title: 'Veuillez vous connecter',
      text: 'Connectez-vous sur ce site pour nous écrire.',
    },
  },
  form: {
    title: 'Comment pouvons-nous vous aider\u202f?',
    lead: 'Dites-nous de quoi il s’agit.',
    topics: 'Sujets',
    subject: 'Objet (facultatif)',
    message: 'Message',
    empty: 'Veuillez écrire un message.',
    noMail: (email) =>
      `Nous ne pouvons pas envoyer d’e-mail à l’adresse ${email}. Dans votre message, indiquez-nous un autre moyen de vous joindre, par exemple une autre adresse e-mail ou un numéro de téléphone.`,
    send: 'Envoyer la demande',
    sending: 'Envoi en cours…',
    tryAgain: 'Réessayer',
    kept: 'Brouillon enregistré dans ce navigateur.',
    notKept: 'Ce navigateur ne peut pas enregistrer de brouillons. Laissez cette page ouverte.',
    sendingNow: 'Votre demande est en cours d’envoi.',
    slow: 'L’envoi prend plus de temps que d’habitude. Veuillez laisser cette page ouverte.',
    ready: {
      title: 'Votre demande est prête',
      text: 'Elle n’a pas encore été envoyée. Votre texte est tel que vous l’avez laissé.',
    },
    offline: {
      title: 'Vous êtes hors ligne',
      text: 'Vous pouvez continuer à écrire. Envoyez votre demande dès que la connexion est rétablie.',
    },
    size: (used, limit) => `${used} sur ${limit}`,
    tooLarge: (over) => `Trop long de ${over}. Veuillez raccourcir votre message.`,
    backToForm: 'Nous écrire',
    connected: 'Vous êtes de nouveau en ligne',
  },
  sent: {
    title: 'Nous avons bien reçu votre demande',
    reference: 'Référence',
    copy: 'Copier la référence',
    next: (email) => `Nous vous répondrons par e-mail à l’adresse ${email}.`,
    answersFrom: (sender, email) =>
      `Notre réponse vous parviendra par e-mail de ${sender} à l’adresse ${email}.`,
    noMail: (email) =>
      `Nous ne pouvons pas envoyer d’e-mail à l’adresse ${email}. Si votre message n’indique aucun autre moyen de vous joindre, veuillez nous écrire de nouveau.`,
    another: 'Nouvelle demande',
    elsewhere: {
      title: 'Déjà envoyée',
      text: 'Vous avez envoyé cette demande depuis un autre onglet.',
    },
  },
  ask: {
    unsent: {
      title: 'Votre texte n’est pas encore envoyé',
      text: 'Voulez-vous le garder dans ce navigateur jusqu’à votre prochaine connexion, ou le supprimer\u202f?',
    },
    keepAndSignOut: 'Le garder et se déconnecter',
    deleteAndSignOut: 'Le supprimer et se déconnecter',
    staySignedIn: 'Ne pas se déconnecter',
    sendVersion: 'Envoyer aussi cette version',
    goOnEditing: 'Continuer à écrire',
  },
  failures: {
    'signed-out': 'Votre session a expiré',
    'too-large': 'Votre demande est trop longue',
    busy: 'Le service est très sollicité',
    limit: 'Vous avez atteint la limite horaire',
    conflict: 'Votre demande est encore en cours de traitement',
    reused: 'Une version précédente de cette demande a déjà été envoyée',
    refused: 'Le service n’a pas accepté cette opération',
    offline: 'Vous êtes hors ligne',
    unreachable: 'Le service ne répond pas',
    server: 'Un problème est survenu de notre côté',
    unknownOutcome:
      'Nous ne savons pas encore si votre demande est arrivée. Votre texte est conservé. Vous pouvez réessayer sans risque\u202f: nous n’enregistrons la demande qu’une seule fois.',
    unknownOutcomeSignedOut:
      'Nous ne savons pas encore si votre demande est arrivée. Votre texte est conservé. Reconnectez-vous et nous terminerons l’envoi\u202f: nous n’enregistrons la demande qu’une seule fois.',
    notSentSignedOut:
      'Rien n’a été envoyé. Votre texte est conservé\u202f: reconnectez-vous pour pouvoir l’envoyer.',
    notSentTooLarge: (limit) =>
      `Rien n’a été envoyé. Ensemble, l’objet et le message ne peuvent pas dépasser ${limit}. Veuillez les raccourcir.`,
    notSentLimit: (wait, time) =>
      `Rien n’a été envoyé\u202f: vous avez atteint le nombre de demandes que nous acceptons par heure. Votre texte est conservé. Vous pourrez l’envoyer ${wait === '' ? `à partir de ${time}` : `${wait} (à partir de ${time})`}.`,
    minutes: { one: 'dans {n} minute', many: 'dans {n} minutes', other: 'dans {n} minutes' },
    notSentBusy:
      'Rien n’a été envoyé. Votre texte est conservé. Veuillez réessayer dans une minute.',
    notSentRefused: (reason) => `Rien n’a été envoyé. Votre texte est conservé. ${reason}`,
    notSentOffline:
      'Rien n’a été envoyé. Votre texte est conservé. Envoyez-le dès que la connexion est rétablie.',
    notSent: 'Rien n’a été envoyé. Votre texte est conservé. Veuillez réessayer.',
    otherVersion:
      'La version précédente est arrivée. Voulez-vous envoyer aussi cette version\u202f?',
    oldAttempt: 'Un envoi précédent est peut-être arrivé',
    oldAttemptText: (time) =>
      `Vous avez essayé d’envoyer ce texte le ${time}. Nous ne pouvons plus savoir s’il est arrivé. Votre texte est conservé.`,
    list: 'Nous n’avons pas pu charger vos demandes.',
    listSignedOut: 'Reconnectez-vous pour les voir.',
    listOffline: 'Elles se chargeront dès que la connexion sera rétablie.',
    listTryAgain: 'Veuillez réessayer dans un instant.',
  },
  list: {
    title: 'Vos demandes',
    refresh: 'Actualiser',
    loading: 'Vos demandes sont en cours de chargement.',
    upToDate: 'La liste est à jour.',
    updated: 'La liste a été actualisée.',
    count: { one: '{n} demande', many: '{n} demandes', other: '{n} demandes' },
    newest: {
      one: 'la plus récente',
      many: 'les {n} plus récentes',
      other: 'les {n} plus récentes',
    },
    more: 'Afficher plus',
    noSubject: 'Aucun objet',
    noMessage: 'Aucun message',
    showAll: 'Afficher tout',
    showAllOf: (size) => `Afficher tout (${size})`,
    showLess: 'Afficher moins',
    answers: (email) =>
      `Les réponses n’apparaissent pas ici. Elles arrivent par e-mail à l’adresse ${email}.`,
    answersFrom: (sender, email) =>
      `Les réponses n’apparaissent pas ici. Elles arrivent par e-mail de ${sender} à l’adresse ${email}.`,
    search: 'Rechercher dans vos demandes',
    period: 'Période',
    anyTime: 'Toutes les dates',
    lastDays: { one: 'Dernier jour', many: '{n} derniers jours', other: '{n} derniers jours' },
    lastMonths: { one: 'Dernier mois', many: '{n} derniers mois', other: '{n} derniers mois' },
    matches: { one: '{n} résultat', many: '{n} résultats', other: '{n} résultats' },
    noMatch: 'Aucune demande ne correspond',
    noMatchYet: 'Aucun résultat pour l’instant',
    notSearched: 'Les demandes plus anciennes n’ont pas encore été parcourues.',
    searching: 'Recherche dans les demandes plus anciennes…',
    clear: 'Effacer la recherche',
    today: 'Aujourd’hui',
    yesterday: 'Hier',
    copyText: 'Copier le texte',
    copyLink: 'Copier le lien',
    copied: 'Copié',
    notCopied: 'La copie a échoué',
    notFound: 'Cette demande ne figure pas dans votre liste.',
  },
};
