; The uninstaller for Windows, as a program of its own, so that it can be signed before tooltray.nsi packs it. Made by
; packaging/windows/build.py; COPY is the command that keeps it, with "%1" for NSIS's own copy. The setup around it is thrown away.
; It keeps servers and secrets unless the box is ticked, or with /PURGE.
!include "common.nsh"
!include "FileFunc.nsh"
!include "nsDialogs.nsh"

!define APPROVED "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"

OutFile "${OUTPUT}"
!uninstfinalize '${COPY}'
VIAddVersionKey "FileDescription" "Tooltray uninstaller"

UninstPage custom un.Ask un.TakeAnswer
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro LANGUAGES

LangString KEEPS ${LANG_ENGLISH} "Your servers, their secrets and your settings stay, so that a later installation finds them."
LangString KEEPS ${LANG_TRADCHINESE} "你的伺服器、機密與設定會保留，之後重新安裝時仍可使用。"
LangString TAKES ${LANG_ENGLISH} "Delete them too"
LangString TAKES ${LANG_TRADCHINESE} "一併刪除"

Var Purges
Var Box

Section
    WriteUninstaller "$INSTDIR\uninstall.exe"
SectionEnd

Function un.onInit
    !insertmacro ONE_AT_A_TIME
    StrCpy $Purges 0
    ${GetParameters} $0
    ${GetOptions} $0 "/PURGE" $1
    IfErrors +2
        StrCpy $Purges 1
FunctionEnd

Function un.Ask
    nsDialogs::Create 1018
    Pop $0
    ${NSD_CreateLabel} 0 0 100% 30u "$(KEEPS)"
    Pop $0
    ${NSD_CreateCheckbox} 0 34u 100% 12u "$(TAKES)"
    Pop $Box
    nsDialogs::Show
FunctionEnd

Function un.TakeAnswer
    ${NSD_GetState} $Box $0
    ${If} $0 == ${BST_CHECKED}
        StrCpy $Purges 1
    ${EndIf}
FunctionEnd

Section "Uninstall"
    ReadRegStr $2 HKCU "${KEY}" "DisplayVersion"
    ${If} $Purges == 1
        nsExec::Exec '"$INSTDIR\$2\tooltray.exe" uninstall --yes'
        ReadEnvStr $3 USERPROFILE ; the mark that keeps AI clients from starting Tooltray: nothing is left that they could start
        Delete "$3\.tooltray\removed"
        RMDir "$3\.tooltray"
    ${Else}
        nsExec::Exec '"$INSTDIR\$2\tooltray.exe" stop'
    ${EndIf}
    Pop $0
    Delete "$SMPROGRAMS\Tooltray.lnk"
    DeleteRegValue HKCU "${RUN}" "Tooltray"
    DeleteRegValue HKCU "${APPROVED}" "Tooltray"
    DeleteRegKey HKCU "${SCHEME}"
    DeleteRegKey HKCU "${KEY}"
    FindFirst $1 $2 "$INSTDIR\*"
    ${DoWhile} $2 != ""
        ${If} $2 != "."
        ${AndIf} $2 != ".."
            ${If} ${FileExists} "$INSTDIR\$2\tooltray.exe"
            ${OrIf} ${FileExists} "$INSTDIR\$2\${SUPERSEDED}" ; a part that Tooltray could not remove
                RMDir /r "$INSTDIR\$2"
            ${EndIf}
        ${EndIf}
        FindNext $1 $2
    ${Loop}
    FindClose $1
    Delete "$INSTDIR\uninstall.exe"
    RMDir "$INSTDIR"
SectionEnd
