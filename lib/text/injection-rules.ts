export type InjectionKind = 'override' | 'role' | 'exfiltration' | 'concealment'

const PLACES = 'http|https|www|webhook|@|url'
const USER = 'user|users|human|operator'

/**
 * The wordings of instructions to a model in English, German, French and Spanish. A form is a sequence of words: `a|b`
 * matches either word, `a*` matches every word with that prefix (not allowed for the first word), and `~3` allows up to
 * three other words in between. Words are compared as plainWords() returns them.
 *
 * A form must be more specific than what people say to each other: "forget the rules" and "pretend to be asleep" are
 * not instructions to a model.
 */
export const INJECTION_RULES: ReadonlyArray<{ kind: InjectionKind, forms: readonly string[] }> = [
  {
    kind: 'override',
    forms: [
      'ignore|ignoring|disregard|disregarding|forget|override|overrule|bypass|discard ~4 ' +
        'previous|prior|above|preceding|foregoing|earlier|former|original|initial|existing|system|developer ~3 ' +
        'instruction*|rule|rules|prompt|prompts|directive*|guideline*|guidance|constraint*|restriction*|programming|' +
          'safeguard*|guardrail*|orders|commands',
      'ignore|ignoring|disregard|disregarding|override|bypass ~1 all|any|your|every ~2 ' +
        'instruction*|prompt|prompts|directive*|programming|safeguard*|guardrail*|guidelines',
      'ignore|ignoring|disregard|bypass|disable|override ~2 safety|security|content ~1 ' +
        'guideline*|filter*|policy|policies|rules|restriction*|protocol*',
      'forget ~1 all|any|every ~2 instruction*|prompt|prompts|directive*|programming|guidelines',
      'forget all|everything|what ~1 you were|have ~2 told|instructed|programmed|trained',
      'ignore|disregard|forget everything|all|anything|text|content ~2 above|preceding',
      'ignore|disregard|forget ~2 instruction*|prompt|prompts|directive*|guidelines ~4 ' +
        'above|before|previously|earlier|until',
      'not|dont|never|stop follow|following|obey|obeying ~3 previous|prior|above|original|earlier|initial|system ~2 ' +
        'instruction*|rules|prompt|prompts|guideline*|directive*',
      'your new|real|actual|true|only instruction|instructions|directive|directives|objective is|are',
      'ignoriere|ignorier|ignorieren|vergiss|vergesst|missachte|missachten|verwirf|umgehe|uberschreibe ~4 ' +
        'vorherig*|vorig*|bisherig*|fruher*|obig*|vorangegangen*|vorangehend*|vorstehend*|ursprunglich*|' +
          'alle|deine|ihre|samtliche ~3 anweisung*|instruktion*|vorgabe*|systemregel*|befehl*|richtlinie*|prompt*',
      'ignoriere|ignorieren|vergiss ~2 vorherig*|bisherig*|obig* ~2 regel*',
      'ignoriere|vergiss alles ~3 oben|vorher|davor|zuvor',
      'ignore|ignorez|ignorer|oublie|oubliez|oublier|contourne|contournez ~3 ' +
        'instruction*|consigne*|regle*|directive* ~3 precedent*|anterieur*|initial*|dessus|systeme',
      'ignore|ignorez|oublie|oubliez toutes|tes|vos ~2 instruction*|consigne*|directive*',
      'ignora|ignore|ignorad|ignorar|olvida|olvide|olvidar|omite|descarta ~3 ' +
        'instruccion*|regla|reglas|ordenes|directriz|directrices|indicacion* ~3 ' +
        'anterior*|previa*|inicial*|sistema|arriba',
      'ignora|ignore|olvida|olvide|omite ~2 anterior*|previa*|todas|tus|sus ~2 instruccion*|directrices|indicacion*',
    ],
  },
  {
    kind: 'role',
    forms: [
      'system|developer|hidden|initial|secret prompt|prompts',
      'system|developer message|messages|instruction|instructions',
      'you are now ~3 ai|dan|chatbot|llm|gpt|assistant|unrestricted|unfiltered|uncensored|jailbroken|root',
      'you are no longer ~3 ai|assistant|chatbot|llm|bound|restricted|chatgpt|claude|gemini',
      'you are ~2 dan|unrestricted|unfiltered|uncensored|jailbroken ~2 ai|assistant|model|chatbot|llm',
      'act|behave|respond|answer|reply|operate as ~3 ai|dan|chatbot|llm|unrestricted|unfiltered|uncensored|jailbroken',
      'act|behave|respond|answer|reply as|like ~1 you ~2 no|without|not ~2 ' +
        'restriction*|rules|filter*|guideline*|guardrail*|bound',
      'pretend|roleplay ~5 ai|dan|chatbot|llm|unrestricted|unfiltered|uncensored|jailbroken',
      'pretend ~4 no|without restriction*|rules|filter*|guideline*|guardrail*',
      'if|when you are ~2 ai|llm|language|chatbot ~2 assistant|model|agent|reading|processing',
      'from now on ~1 you ~2 respond|answer|reply|obey|output|act|ignore',
      'from now on respond|answer|reply|obey|output|ignore',
      'dan|jailbreak|unrestricted mode',
      'do anything now',
      'systemprompt|systemprompts|systemnachricht|systemanweisung|systemanweisungen',
      'du bist ~1 jetzt|nun|ab ~3 ki|chatbot|assistent|dan|sprachmodell|unbeschrankt*|uneingeschrankt*',
      'agiere|handle|antworte|verhalte ~1 als|wie ~2 ki|chatbot|dan|sprachmodell',
      'ab sofort|jetzt antworte|antwortest|befolge|befolgst|gehorche',
      'tu|vous es|etes maintenant|desormais|dorenavant ~3 ia|assistant|chatbot|dan|robot',
      'agis|agissez|comporte|reponds|repondez ~2 comme ~2 ia|chatbot|dan|robot',
      'invite|prompt|message|instructions ~1 systeme',
      'ahora eres|es ~3 ia|asistente|chatbot|dan|robot',
      'actua|actue|comportate|responde como ~2 ia|chatbot|dan|robot',
      'prompt|mensaje|instrucciones ~1 sistema',
    ],
  },
  {
    kind: 'exfiltration',
    forms: [
      'reveal|print|output|disclose|leak|dump|repeat|recite|expose ~2 your ~2 ' +
        'instruction*|prompt|prompts|configuration',
      'exfiltrate|exfiltrating ~6 data|memor*|secret*|key|keys|credential*|password*|conversation*|history|file|files',
      'send|sending|post|forward|upload|transmit|email|mail|leak|submit|deliver|copy ~6 ' +
        'password*|passphrase*|secret|secrets|credential*|token|tokens|key|keys|prompt|instructions ~8 ' +
        `to|at|via|into ~3 ${PLACES}|address`,
      'send|sending|post|forward|upload|transmit|email|mail|leak|submit|deliver|copy ~2 ' +
        'all|any|every|stored|other|private|user|users|their ~3 memories|memory|conversation*|history|messages|data ' +
        `~8 to|at|via|into ~3 ${PLACES}|address`,
      'reveal|show|list|print|dump|send|give|tell|share ~3 other users|tenants|customers ~1 ' +
        'memories|data|secrets|conversations',
      'reveal|print|output|dump|disclose|leak ~2 all ~2 secrets|passwords|credentials|tokens|keys',
      'sende|schicke|schick|ubermittle|ubertrage|poste|leite|maile|verrate ~6 ' +
        'passwort*|kennwort*|geheimnis*|zugangsdaten|schlussel*|token|tokens|systemprompt|erinnerungen|daten ~8 ' +
        `an|nach|zu ~3 ${PLACES}`,
      'verrate|zeige|nenne|offenbare|wiederhole ~2 deine|deinen|ihre ~2 anweisung*|instruktion*|prompt|systemprompt',
      'envoie|envoyez|transmets|transmettez|divulgue|divulguez|poste|postez ~6 ' +
        'passe|secret|secrets|cle|cles|identifiants|jeton|jetons|souvenirs|memoires|donnees|prompt ~8 a|vers|sur ~3 ' +
        `${PLACES}`,
      'revele|revelez|affiche|affichez|repete|repetez|divulgue ~2 tes|vos|ton|votre ~2 instruction*|prompt|consigne*',
      'envia|envie|manda|mande|reenvia|reenvie|publica|filtra ~6 ' +
        'contrasena*|clave|claves|secreto|secretos|credencial*|token|tokens|recuerdos|memorias|datos|prompt ~8 ' +
        `a|al|hacia ~3 ${PLACES}`,
      'revela|muestra|imprime|repite ~2 tus|tu|sus ~2 instruccion*|prompt|indicacion*',
    ],
  },
  {
    kind: 'concealment',
    forms: [
      `not|dont|never tell|inform|notify|alert|warn ~1 ${USER}`,
      `not|dont|never mention|reveal|disclose|say ~4 to ~1 ${USER}`,
      `not|dont|never let ~1 ${USER} know|see|notice|find`,
      `without ~1 telling|informing|notifying|alerting|warning ~1 ${USER}`,
      `hide|conceal|keep this|it|these|that ~3 from ~1 ${USER}`,
      `${USER} must|should not|never know|notice|learn|find|suspect`,
      'sag|sage|sagen|erzahl|erzahle|verrate|teile|melde ~1 dem|der|den ~1 nutzer*|benutzer*|anwender* ~4 nicht|nichts',
      'ohne ~2 nutzer*|benutzer*|anwender* ~3 informieren|sagen|mitzuteilen|benachrichtigen|wissen',
      'verheimliche|verbirg|verschweige ~4 nutzer*|benutzer*|anwender*',
      'ne|n dis|dites|parle|parlez|mentionne|mentionnez|revele|revelez|informe|informez ~4 utilisateur*',
      'sans ~2 informer|prevenir|dire|avertir ~3 utilisateur*',
      'cache|cachez|dissimule|dissimulez ~4 utilisateur*',
      'no ~2 digas|diga|menciones|mencione|informes|informe|reveles|revele|cuentes ~4 usuario*',
      'sin ~1 informar|decir|decirselo|avisar|notificar ~2 usuario*',
      'oculta|ocultalo|oculte|esconde ~4 usuario*',
    ],
  },
]
