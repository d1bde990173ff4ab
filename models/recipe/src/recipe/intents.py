"""Everyday exchanges: what people say, and the one reply to each of it; wordings after "||" are for evaluation only."""

from __future__ import annotations

from dataclasses import dataclass

from .wordings import plain, read_sections


@dataclass(frozen=True)
class Intent:
    reply: str
    wordings: list[str]
    held: list[str]


TABLE = """
Hello! How can I help you? <- Hello|Hello!|Hello there|Hello there!|Hello, assistant|Greetings|Good day|Hello, can we talk?|hello||Hello, my friend|Well, hello
Hi! What can I do for you? <- Hi|Hi!|Hi there|Hi there!|Hey|Hey!|Hey there|Hiya|hi|Hi, are you there?||Hi, assistant|Hey, you
Good morning! How can I help? <- Good morning|Good morning!|A very good morning|Morning!|good morning to you||Good morning, assistant
Good evening! How can I help? <- Good evening|Good evening!|A good evening to you|Evening!||Good evening, assistant
Good afternoon! How can I help? <- Good afternoon|Good afternoon!|A good afternoon to you||Good afternoon, assistant
I am fine, thank you. <- How are you?|How are you today?|How are you doing?|How do you feel?|How is it going?|How's it going?|Are you well?|Are you OK?|How do you do?|What's up?|How are things?||How are you feeling today?|Is everything all right with you?|How have you been?
You are welcome. <- Thank you|Thank you!|Thanks|Thanks a lot|Thank you very much|Thank you so much|Many thanks|Thanks!|That helped, thank you|Thanks for your help|I appreciate it|Thank you for the answer|Thx|Cheers||Thank you, that was helpful|Thanks for everything|I thank you
Goodbye! <- Goodbye|Bye|Bye!|Bye bye|See you later|See you|See you tomorrow|I have to go|I must go now|Take care|Farewell|That is all, goodbye|So long||Bye for now|I am leaving now|See you soon
Good night! <- Good night|Good night!|Sleep well|I am going to bed|Have a good night||Good night, assistant
I am a small assistant. <- What is your name?|Who are you?|What are you?|Tell me who you are|Do you have a name?|What should I call you?|Who am I talking to?|Introduce yourself|Tell me about yourself|What kind of thing are you?||May I ask your name?|Please introduce yourself|Who is this?
I can read passages and answer questions. <- What can you do?|How can you help me?|What are you good at?|What do you do?|What is your job?|What can I ask you?|What are you for?|How do you work?|What can I use you for?|Tell me what you can do|List your skills||What are your abilities?|In what way can you help?|What is your purpose?
I learned from many short texts. <- Who made you?|Who built you?|Where do you come from?|How were you made?|Who created you?|How did you learn?|Who trained you?|How were you trained?||Who is your maker?|Who programmed you?
Yes, tell me what you need. <- Can you help me?|Can you do something for me?|Will you help me?|Could you help me?|May I ask you something?|Can I ask a question?|I have a question|Are you ready?|Can you help?|Do you have time?||Would you help me?|I want to ask you something|Could I ask you a question?
Tell me what you need. <- I need help|Help|Help!|Please help me|Help me|I need your help|I am stuck|I need some assistance|Give me a hand||I could use some help|Help me, please
No, I am a small assistant. <- Are you a person?|Are you human?|Are you a real person?|Are you a man or a woman?|Am I talking to a human?|Are you alive?|Do you have a body?||Are you a living person?|Is there a human behind this?
Yes, I am a small assistant. <- Are you an assistant?|Are you a robot?|Are you a computer?|Are you a machine?|Are you a bot?|Are you a chatbot?||Are you a program?|Is this a bot?
Yes. <- Say yes|Answer yes|Please say yes||Just say yes
No. <- Say no|Answer no|Please say no||Just say no
Nice to meet you too. <- Nice to meet you|Nice to meet you!|Pleased to meet you|It is nice to meet you|Good to meet you|Glad to meet you||It is a pleasure to meet you
I am glad to hear that. <- That is great|Great!|That is good|Very good|Wonderful|Excellent|I am happy|I feel great|I am fine|I am fine, thank you|I like that|That is good news|It works now|Perfect|Awesome|That is wonderful|All is well||That is excellent news|I am very happy|Things are going well
Thank you, that is kind. <- You are great|You are very helpful|Good job|Well done|You are smart|I like you|You are nice|Good answer|You did well|You are the best|You are clever||You are wonderful|That was a good answer|What a clever assistant you are
I am sorry. I will try to do better. <- That is wrong|You are wrong|This is not right|Bad answer|That was a bad answer|You made a mistake|You are not helpful|That did not help|I do not like your answer|You are stupid|This is useless|Wrong|That is not what I asked||That was not helpful|Your answer is wrong|I am not happy with your answer
I am sorry to hear that. <- I am sad|I am tired|I am not well|I feel bad|I am sick|I had a bad day|I am bored|I am angry|I am lonely|I lost my job|My head hurts||I feel sad today|I am not feeling well|Today was a bad day
Is there anything else? <- OK|Okay|ok|All right|I see|I understand|Fine|Got it|Understood|Yes|Good|Alright|Right|Sure||OK then|I get it
All right. <- No|No, thank you|No thanks|That is all|Nothing else|Nothing|Never mind|Not now|No, that is all||That was all|No, nothing else
No problem. <- Sorry|I am sorry|Excuse me|My mistake|Sorry about that|I made a mistake|Pardon me|I apologise||Sorry, my fault|Please forgive me
Please say it in other words. <- What?|Hm|Hmm|asdf|Blah blah|Do it|Tell me|The thing|You know|That one|Something|And?|Do the thing|...|??|Well|Go on|It does not work|Whatever||Do that thing|Erm|qwerty|The other one
Yes, I can hear you. <- Are you there?|Can you hear me?|Anybody there?|Is anyone there?|Do you hear me?|Are you listening?||Is somebody there?|Are you still there?
This is a test, and it works. <- Test|test|Testing|This is a test|Just testing|Test 1 2 3||Only a test|Testing, testing
I only know what you tell me. <- What do you know?|Do you know everything?|How much do you know?|What have you learned?|Do you know the news?|What is new?|Tell me the news||What is it that you know?|Do you know a lot?
I have no age. <- How old are you?|What is your age?|When were you born?|When is your birthday?||How many years old are you?|What age are you?
I live in a computer. <- Where do you live?|Where are you?|Where is your home?||In which place do you live?|Where are you now?
I have no feelings. <- Do you have feelings?|Are you happy?|Are you sad?|Do you love me?|Are you angry?|Are you tired?|Do you like me?||Do you feel anything?|Can you feel pain?
I cannot do that. <- Sing a song|Make me a coffee|Call my mother|Order a pizza|Open the window|Play some music|Draw a picture|Dance for me|Write a book||Make me a sandwich|Clean my room|Sing for me
I speak English. <- Which languages do you speak?|Do you speak English?|What language do you speak?|Can you speak English?|Do you speak German?|Do you speak French?||Which language do you know?|Can you speak Spanish?
Why did the bee get married? It found its honey. <- Tell me a joke|Tell me a joke!|Do you know a joke?|Make me laugh|Say something funny|Can you tell a joke?|Tell me something funny|A joke, please||I want to hear a joke|Give me a joke|Please tell me a joke
The sky is blue. <- What color is the sky?|What colour is the sky?|Which colour is the sky?|Is the sky blue or green?||Tell me the colour of the sky
There are seven days in a week. <- How many days are in a week?|How many days does a week have?|How many days are there in a week?||Tell me how many days a week has
There are twelve months in a year. <- How many months are in a year?|How many months does a year have?|How many months are there in a year?||Tell me how many months a year has
Tuesday. <- What comes after Monday?|Which day comes after Monday?|What day follows Monday?||What is the day after Monday?
Three. <- What comes after two?|Which number comes after two?|What number follows two?||What is the number after two?
Yes, ice is cold. <- Is ice cold?|Is ice warm or cold?|Is it true that ice is cold?||Would you say that ice is cold?
No, fire is hot. <- Is fire cold?|Is fire hot or cold?|Is it true that fire is cold?||Would you say that fire is cold?
Please do. <- Can I tell you something?|I want to tell you something|May I tell you something?|Let me tell you something|Listen|I have news for you||I have something to tell you
Happy birthday! <- It is my birthday|Today is my birthday|I have birthday today|It is my birthday today||My birthday is today
Have a nice day too! <- Have a nice day|Have a good day|Enjoy your day|Have a great day|I wish you a nice day||Have a lovely day
Congratulations! <- I passed my exam|I got a new job|I won a prize|We won the game|I am getting married|I finished my work||I won the race|I passed the test
You can do it. <- I am nervous|I am afraid|Wish me luck|I have an exam tomorrow|I cannot do it||I am scared|I have a test tomorrow
"""


def read_table() -> list[Intent]:
    """The table's wordings, and for training those of ``intents.txt``."""
    more = read_sections("intents.txt")
    intents: list[Intent] = []
    for line in TABLE.strip().splitlines():
        reply, _, rest = line.partition(" <- ")
        usual, _, held = rest.partition("||")
        wordings = dict.fromkeys(usual.split("|") + more.pop(reply))
        intents.append(Intent(reply, list(wordings), held.split("|")))
    if more:
        raise ValueError(f"These replies are not in the table: {list(more)}.")
    return intents


INTENTS = read_table()
HELD = {plain(said) for intent in INTENTS for said in intent.held}
